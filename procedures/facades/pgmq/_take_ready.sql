-- pgmq._take_ready(p_destination_id, p_rank, p_message_ids, p_journaled, p_now): consume messages that nobody has read.
--
-- Returns  of each its number, the message (howdah.msgs), and whether it is non-persistent. Those that were read before
--          also have how often and when, and from when on they would have been visible again.
-- Role     internal
create or replace function pgmq._take_ready(
    p_destination_id integer, p_rank smallint, p_message_ids bigint[], p_journaled boolean, p_now timestamptz
) returns table (
    number bigint, message howdah.msgs, nonpersistent boolean, reads integer, read_at timestamptz,
    visible_at timestamptz
)
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
    return query
    with ready as (
        delete from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank = p_rank
          and m.seq = any (array(select i.id / 1000000 from unnest(p_message_ids) i(id)))
          and m.message_id = any (p_message_ids)
        returning m as message
    ), elsewhere as (
        delete from howdah.msgs m where m.ctid = any (pgmq._rows_elsewhere(p_destination_id, p_rank, p_message_ids))
        returning m as message
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent n
        where n.ctid = any ((
            select howdah._nonpersistent_rows(p_destination_id, array_agg(k.message_id), array_agg(9 - k.rank),
                array_agg(k.seq))
            from howdah._named_keys(p_destination_id, p_message_ids) k
            where exists (select from howdah.lanes l where l.destination_id = p_destination_id and l.place = 1))::tid[])
          and n.boot = pg_postmaster_start_time()
        returning n as stored
    ), waiting as (
        delete from howdah.parked p
        where p.ctid = any (array(  -- locked in the order of their ids, as in pgmq._set_vt
                select w.ctid from howdah.parked w
                where w.ctid = any (howdah._parked_rows(p_destination_id, p_message_ids))
                  and w.lease_id is null and w.boot = pg_postmaster_start_time()
                order by w.message_id for update))
        returning p as stored
    ), gone as materialized (
        select r.message, false as nonpersistent, 0 as reads, null::timestamptz as read_at,
            null::timestamptz as visible_at
        from ready r
        union all select e.message, false, 0, null, null from elsewhere e
        union all select howdah._as_ready(n.stored), true, 0, null, null from nonpersistent n
        union all select howdah._as_ready(w.stored), true, coalesce((w.stored).reads, 0), (w.stored).last_read_at,
            (w.stored).due_at
        from waiting w
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
        select p_now, p_destination_id, g.nonpersistent, 'consumed', 'held', array_agg((g.message).message_id),
            min((g.message).sent_at)
        from gone g where p_journaled group by g.nonpersistent
    )
    select pgmq._number(p_destination_id, (g.message).message_id), g.message, g.nonpersistent, g.reads, g.read_at,
        g.visible_at
    from gone g;
end
$$;
