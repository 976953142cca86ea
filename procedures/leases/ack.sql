-- howdah.ack(queue, lease, message_ids): acknowledge leased messages: they are consumed.
--
-- Returns  their number (bigint). message_ids NULL: all that the lease still has.
-- Raises   HD001 no such queue; HD010 not allowed; HD026 the lease has not (or no longer) one of these messages: nothing is acknowledged.
-- Role     howdah_consumer howdah_admin
--
-- In the caller's transaction, so it can commit together with what the messages caused. After leased_until it still succeeds as long as nobody
-- else has received the message.
create or replace function howdah.ack(queue text, lease bigint, message_ids bigint[] default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_variable
declare
    v_destination howdah.destinations;
    v_queue record;
    v_now timestamptz := howdah.now();
    v_persistent bigint[];
    v_nonpersistent bigint[];
    v_apart bigint[];
    v_done bigint;
begin
    -- The usual case: in leased, and the lease goes on. Nobody else takes these rows.
    select d.id, d.journal_level <> 'off' as journaled, l.rank, howdah._has_role(d.receivers[1]) as allowed,
        message_ids is null and exists (select from howdah.parked p where p.destination_id = d.id and p.lease_id = lease) as parked
    into v_queue
    from howdah.destinations d left join howdah.leases l on l.lease_id = lease and l.destination_id = d.id and l.until > v_now
    where d.name = queue and d.dropped_at is null and d.kind = 'queue';
    if v_queue.allowed is not true then
        v_destination := howdah._destination(queue, 'receive');
    end if;
    with gone as (
        delete from howdah.leased m
        where m.destination_id = v_queue.id and m.rank = v_queue.rank and m.seq >= lease << 20 and m.seq <= (lease << 20 | 1048575)
          and (message_ids is null or m.message_id = any (message_ids))
        returning m.message_id, m.sent_at, m.body is null as apart
    ), listed as materialized (
        select array_agg(g.message_id) as ids, min(g.sent_at) as oldest_sent_at, array_agg(g.message_id) filter (where g.apart) as apart
        from gone g having count(*) > 0
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
        select v_now, v_queue.id, false, 'consumed', 'held', i.ids, i.oldest_sent_at from listed i where v_queue.journaled
    ), ended as (
        delete from howdah.leases l where l.lease_id = lease and v_queue.rank is not null and message_ids is null
    )
    select coalesce(cardinality(i.ids), 0), i.apart into v_done, v_apart from (select) o left join listed i on true;
    if v_apart is not null then
        perform howdah._drop_bodies(v_apart);
    end if;
    if v_done < cardinality(message_ids) or v_done = 0 or v_queue.parked then
        v_destination := howdah._destination(queue, 'receive');
        perform howdah._lay_down(v_destination.id, lease, message_ids, null);
        -- A second time if there may be more: a row that was just renewed, which is waited for, is another one than this statement began with.
        for v_time in 1..2 loop
            with gone as (
                delete from howdah.parked p
                where p.ctid = any (array(select l.ctid from howdah._leased(v_destination.id, lease, message_ids) l))
                returning p.message_id, p.boot is not null as nonpersistent
            )
            select array_agg(g.message_id) filter (where not g.nonpersistent), array_agg(g.message_id) filter (where g.nonpersistent)
            into v_persistent, v_nonpersistent from gone g;
            perform howdah._journal(v_destination, 'consumed', v_persistent, false, null, 'held');
            perform howdah._journal(v_destination, 'consumed', v_nonpersistent, true, null, 'held');
            v_done := v_done + coalesce(cardinality(v_persistent), 0) + coalesce(cardinality(v_nonpersistent), 0);
            exit when v_done >= cardinality(message_ids);
        end loop;
        if v_destination.kind = 'subscription' then
            v_done := v_done + howdah._ack_published(v_destination, lease, message_ids);
        end if;
        return howdah._check_lease(v_destination, lease, message_ids, v_done);
    end if;
    if message_ids is not null then
        perform howdah._forget_lease(l) from howdah.leases l where l.lease_id = lease and l.destination_id = v_queue.id;
    end if;
    return v_done;
end
$$;

-- howdah._leased(p_destination_id, p_lease, p_message_ids): the rows of a lease in parked, locked.
--
-- Returns  ctid and message of each; those that somebody else is just receiving, because the lease ran out, are left out.
-- Role     internal
--
-- While the lease lasts nobody has its messages but who renews it, gives them back or acknowledges them: that is waited for.
create or replace function howdah._leased(p_destination_id integer, p_lease bigint, p_message_ids bigint[])
returns table (ctid tid, message howdah.parked)
language plpgsql volatile
as $$
begin
    if p_message_ids is null then
        perform from howdah.parked p
        where p.lease_id = p_lease and p.destination_id = p_destination_id and p.parked_reason = 'lease' and p.due_at > howdah.now()
        order by p.message_id for update;
        return query
        select p.ctid, p from howdah.parked p
        where p.lease_id = p_lease and p.destination_id = p_destination_id and p.parked_reason = 'lease'
        order by p.message_id for update skip locked;
    else
        perform from howdah.parked p
        where p.destination_id = p_destination_id and p.message_id = any (p_message_ids) and p.lease_id = p_lease and p.parked_reason = 'lease'
          and p.due_at > howdah.now()
        order by p.message_id for update;
        return query
        select p.ctid, p from howdah.parked p
        where p.destination_id = p_destination_id and p.message_id = any (p_message_ids) and p.lease_id = p_lease and p.parked_reason = 'lease'
          and (p.boot is null or p.boot = pg_postmaster_start_time())
        order by p.message_id for update skip locked;
    end if;
end
$$;

-- howdah._check_lease(p_destination, p_lease, p_message_ids, p_done): refuse a call for messages that a lease has no more.
--
-- Returns  p_done.
-- Raises   HD026 fewer were done than asked for, or the lease has none at all.
-- Role     internal
create or replace function howdah._check_lease(p_destination howdah.destinations, p_lease bigint, p_message_ids bigint[], p_done bigint)
returns bigint
language plpgsql volatile
as $$
begin
    if p_lease is null or p_done < (select count(distinct i.id) from unnest(p_message_ids) i(id)) or p_message_ids is null and p_done = 0
       or exists (select from unnest(p_message_ids) i(id) where i.id is null) then
        raise exception using errcode = 'HD026',
            message = format('lease %s has not all of these messages of %s', coalesce(p_lease::text, 'NULL'), quote_literal(p_destination.name)),
            hint = 'It ran out and others have received them, or they were acknowledged or given back before. Whoever has them now decides.';
    end if;
    return p_done;
end
$$;

-- howdah._ack_published(p_destination, p_lease, p_message_ids): acknowledge leased messages of a subscription's topics.
--
-- Returns  their number (bigint); 0 for a queue.
-- Role     internal
create or replace function howdah._ack_published(p_destination howdah.destinations, p_lease bigint, p_message_ids bigint[]) returns bigint
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
    v_ids bigint[];
    v_volatile bigint[];
    v_count bigint := 0;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination.id;
    if not found then
        return 0;
    end if;
    for v_ack in select a.* from howdah.acks a where a.subscription_id = p_destination.id loop
        with done as (
            update howdah.acked d set lease_id = null, leased_until = null
            where d.ack_id = v_ack.id and d.lease_id = p_lease
              and (p_message_ids is null or d.seq * 1000000 + v_ack.destination_id = any (p_message_ids))
            returning d.seq * 1000000 + v_ack.destination_id as message_id, d.nonpersistent
        )
        select array_agg(d.message_id) filter (where not d.nonpersistent), array_agg(d.message_id) filter (where d.nonpersistent)
        into v_ids, v_volatile from done d;
        if v_ids is not null or v_volatile is not null then
            perform howdah._journal(p_destination, 'consumed', v_ids, false, null, 'held');
            perform howdah._journal(p_destination, 'consumed', v_volatile, true, null, 'held');
            perform howdah._fold(v_subscription, v_ack);
            v_count := v_count + coalesce(cardinality(v_ids), 0) + coalesce(cardinality(v_volatile), 0);
        end if;
    end loop;
    return v_count;
end
$$;
