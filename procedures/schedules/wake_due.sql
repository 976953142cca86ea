-- howdah.wake_due(since): wake waiting consumers of queues in which a parked message has become due; schedulers call
-- it.
--
-- Returns  one row. woken: the number of queues. next_in: the seconds until the next parked message of a queue with
--          waiting consumers is due (NULL: none). now: pass it as since in the next call.
-- Role     howdah_consumer howdah_admin
--
-- It only saves time: receives find due messages by themselves, and waiting ones within 250 ms.
create or replace function howdah.wake_due(
    since timestamptz, out woken bigint, out next_in double precision, out now timestamptz
)
returns record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
begin
    now := howdah.now();
    with waited as materialized (
        select d.id, d.waiting, l.rank
        from (select distinct o.destination_id, o.rank from howdah.lanes o where o.place = 0) l
        join howdah.destinations d on d.id = l.destination_id
        where d.dropped_at is null and pg_sequence_last_value(d.waiting) is not null
    ), coming as (
        select w.id, w.waiting, n.due_at
        from waited w
        cross join lateral (
            (select p.due_at from howdah.parked p
             where p.destination_id = w.id and p.rank = w.rank and p.due_at > coalesce(since, wake_due.now)
             order by p.due_at limit 1)
            union all
            (select l.until from howdah.leases l
             where l.destination_id = w.id and l.rank = w.rank and l.until > coalesce(since, wake_due.now)
             order by l.until limit 1)) n
    ), due as (
        select c.id, howdah._wake(c.id, c.waiting)
        from (select distinct o.id, o.waiting from coming o where o.due_at <= wake_due.now) c
    )
    select (select count(*) from due), case when exists (select from due) then 0
        else extract(epoch from min(c.due_at) - wake_due.now) end
    into woken, next_in from coming c;
end
$$;
