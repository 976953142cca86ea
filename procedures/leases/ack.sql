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
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_persistent bigint[];
    v_nonpersistent bigint[];
    v_published bigint;
begin
    with gone as (
        delete from howdah.parked p
        where p.ctid = any (array(select l.ctid from howdah._leased(v_destination.id, lease, message_ids) l))
        returning p.message_id, p.boot is not null as nonpersistent
    )
    select array_agg(g.message_id) filter (where not g.nonpersistent), array_agg(g.message_id) filter (where g.nonpersistent)
    into v_persistent, v_nonpersistent from gone g;
    perform howdah._journal(v_destination, 'consumed', v_persistent, false);
    perform howdah._journal(v_destination, 'consumed', v_nonpersistent, true);
    v_published := howdah._ack_published(v_destination, lease, message_ids);
    return howdah._check_lease(v_destination, lease, message_ids,
        coalesce(cardinality(v_persistent), 0) + coalesce(cardinality(v_nonpersistent), 0) + v_published);
end
$$;

-- howdah._leased(p_destination_id, p_lease, p_message_ids): the rows of a lease, locked.
--
-- Returns  ctid and message of each; those that somebody else is just receiving, because the lease ran out, are left out.
-- Role     internal
create or replace function howdah._leased(p_destination_id integer, p_lease bigint, p_message_ids bigint[])
returns table (ctid tid, message howdah.parked)
language plpgsql volatile
as $$
begin
    if p_message_ids is null then
        return query
        select p.ctid, p from howdah.parked p
        where p.lease_id = p_lease and p.destination_id = p_destination_id and p.parked_reason = 'lease'
        order by p.message_id for update skip locked;
    else
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
       or array_position(p_message_ids, null) > 0 then
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
            returning d.seq * 1000000 + v_ack.destination_id as message_id
        )
        select array_agg(d.message_id) into v_ids from done d;
        if v_ids is not null then
            perform howdah._journal(p_destination, 'consumed', v_ids, false);
            perform howdah._fold(v_subscription, v_ack);
            v_count := v_count + cardinality(v_ids);
        end if;
    end loop;
    return v_count;
end
$$;
