-- howdah.ack(queue, lease, message_ids): acknowledge leased messages, which consumes them.
--
-- Returns  the number of messages acknowledged (bigint). message_ids NULL: all messages that the lease still has.
-- Raises   HD001 no such queue; HD010 not allowed; HD026 the lease does not have, or no longer has, one of these
--          messages; nothing is acknowledged.
-- Role     howdah_consumer howdah_admin
--
-- The call is part of the caller's transaction, and can commit together with the work that the messages caused. After
-- leased_until it still succeeds unless somebody else has received a message.
create or replace function howdah.ack(queue text, lease bigint, message_ids bigint[] default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_variable
declare
    v_destination howdah.destinations;
    v_queue record;
    v_now timestamptz := howdah.now();
    v_persistent bigint[];
    v_nonpersistent bigint[];
    v_apart bigint[];
    v_kept howdah.parked[];
    v_done bigint;
    v_more boolean;
begin
    if current_setting('howdah.commit_by_reliability', true) <> '' then
        perform howdah._note_acked(queue, lease, message_ids);
    end if;
    -- The usual case: the messages are in leased, and the lease has not ended. Nobody else takes these rows.
    select d.id, d.journaled, l.rank, d.keep_bodies_ms is null
            and (howdah._has_role(d.receivers[1])
                or howdah._has_right(d.id, 'receive', d.receivers)) as usual
    into v_queue
    from howdah.destinations d left join howdah.leases l
        on l.lease_id = lease and l.destination_id = d.id and l.until > v_now
    where d.name = queue and d.dropped_at is null and d.kind = 'queue';
    if v_queue.usual is not true then
        v_destination := howdah._destination(queue, 'receive');
        if v_destination.keep_bodies_ms is not null then
            perform howdah._keep_leased(v_destination, v_queue.rank, lease, message_ids);
        end if;
    end if;
    with gone as (
        delete from howdah.leased m
        where m.destination_id = v_queue.id and m.rank = v_queue.rank and m.seq >= lease << 20
          and m.seq <= (lease << 20 | 1048575)
          and (message_ids is null or m.message_id = any (message_ids))
        returning m.message_id, m.sent_at, m.body is null as apart
    ), listed as materialized (
        select array_agg(g.message_id) as ids, min(g.sent_at) as oldest_sent_at,
        array_agg(g.message_id) filter (where g.apart) as apart
        from gone g having count(*) > 0
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
        select v_now, v_queue.id, false, 'consumed', 'held', i.ids, i.oldest_sent_at from listed i
        where v_queue.journaled
    ), ended as (
        delete from howdah.leases l where l.lease_id = lease and v_queue.rank is not null and message_ids is null
    )
    select coalesce(cardinality(i.ids), 0), i.apart into v_done, v_apart from (select) o left join listed i on true;
    if v_apart is not null then
        perform howdah._drop_bodies(v_apart);
    end if;
    v_more := v_done = 0 or message_ids is not null and v_done < cardinality(message_ids);
    if message_ids is null and not v_more then
        -- after the rows in leased: another call may have moved one of them while this one waited for it
        v_more := exists (select from howdah.parked p where p.destination_id = v_queue.id and p.lease_id = lease);
    end if;
    if v_more then
        v_destination := howdah._destination(queue, 'receive');
        perform howdah._lay_down(v_destination.id, lease, message_ids, null);
        -- Look twice if there may be more: a row that was just renewed, and waited for, is not the row with which the
        -- statement began.
        for v_time in 1..2 loop
            with gone as (
                delete from howdah.parked p
                where p.ctid = any (array(select l.ctid
                    from howdah._parked_of_lease(v_destination.id, lease, message_ids) l))
                returning p.message_id, p.boot is not null as nonpersistent, p as row
            )
            select array_agg(g.message_id) filter (where not g.nonpersistent),
                array_agg(g.message_id) filter (where g.nonpersistent),
                array_agg(g.row) filter (where v_destination.keep_bodies_ms is not null)
            into v_persistent, v_nonpersistent, v_kept from gone g;
            perform howdah._keep_stored(v_destination, array_agg(howdah._as_ready(k)), k.boot is not null)
            from unnest(v_kept) k group by k.boot is not null;
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
