-- howdah.exception_figures(): what lies ready in exception destinations: the dead of other queues, and what waits.
--
-- Returns  one row per exception destination that the caller may browse. dead: ready messages that came from another
--          queue. waiting: the other ready ones. oldest_age: the age of the oldest of these; NULL: there is none.
-- Raises   HD010 called from a maintenance command; HD037 on a standby.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
--
-- Up to 10,000 messages of a destination are counted now. If it has more, the last background count is shown. If nobody
-- counted in the last two minutes, the figures are those of the first 10,000.
create or replace function howdah.exception_figures() returns table (
    queue_name text, dead bigint, waiting bigint, oldest_age interval
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_most constant bigint := howdah._counting_bound() + 1;
    v_counted_at timestamptz := howdah._figures_at();
begin
    perform howdah._check_all_here();
    return query
    with seen as materialized (
        select d.id, d.name from howdah._exception_destinations() x(id)
        join howdah._seen_queues() v(id) on v.id = x.id join howdah.destinations d on d.id = x.id
    )
    select s.name, case when k.kept then f.live - f.waiting else c.dead end,
        case when k.kept then f.waiting else c.waiting end,
        v_now - case when k.kept then f.waiting_sent_at else c.sent_at end
    from seen s
    cross join lateral (
        select count(g.origin_id) as dead, count(*) - count(g.origin_id) as waiting,
            min(g.sent_at) filter (where g.origin_id is null) as sent_at, count(*) >= v_most as many
        from (
            (select m.origin_id, m.sent_at from howdah.msgs m where m.destination_id = s.id limit v_most)
            union all
            (select n.origin_id, n.sent_at from howdah.msgs_nonpersistent n
             where n.destination_id = s.id and n.boot = pg_postmaster_start_time() limit v_most)
        ) g
    ) c
    left join howdah.backlog_figures f on f.destination_id = s.id and v_counted_at is not null
    cross join lateral (select c.many and f.destination_id is not null as kept) k
    order by s.name;
end
$$;
