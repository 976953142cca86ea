-- pgmq.metrics(queue_name): count the messages of a queue.
--
-- Returns  pgmq.metrics_result. total_messages is the last number given out; default_partition_length is always NULL.
-- Raises   42P01 no such queue; HD010 not allowed.
-- Role     everybody
create or replace function pgmq.metrics(queue_name text) returns pgmq.metrics_result
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := pgmq._refuse(queue_name, 'browse');
    v_now timestamptz := howdah.now();
    v_result pgmq.metrics_result;
begin
    select queue_name, count(*), extract(epoch from v_now - max(s.sent_at))::integer,
        extract(epoch from v_now - min(s.sent_at))::integer,
        coalesce(pg_sequence_last_value(v_destination.positions), 0), v_now,
        count(*) filter (where s.due_at <= v_now), null
    into v_result
    from (
        select m.sent_at, m.sent_at as due_at from howdah.msgs m where m.destination_id = v_destination.id
        union all
        select n.sent_at, n.sent_at from howdah.msgs_nonpersistent n
        where n.destination_id = v_destination.id and n.boot = pg_postmaster_start_time()
        union all
        select p.sent_at, p.due_at from howdah.parked p
        where p.destination_id = v_destination.id and (p.boot is null or p.boot = pg_postmaster_start_time())
        union all
        select l.sent_at, i.until from howdah.leased l join howdah.leases i on i.lease_id = l.seq >> 20
        where l.destination_id = v_destination.id
    ) s;
    return v_result;
end
$$;
