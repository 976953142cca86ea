-- howdah.list_workers(after_name, after_start, after_worker, max_rows): list the registered worker processes.
--
-- Returns  one row per process; silent_for is the time since its last heartbeat. queues and in_hand: those
--          that the caller may use.
-- Raises   HD005 max_rows is not 1 to 10000; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
--
-- By name; max_rows NULL: all. For the next page, pass the last row's name, started_at and worker_id.
create or replace function howdah.list_workers(
    after_name text default null, after_start timestamptz default null, after_worker uuid default null,
    max_rows integer default null
) returns table (
    worker_id uuid, name text, host text, pid integer, sessions integer, queues text[], started_at timestamptz,
    silent_for interval, in_hand jsonb, instance text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select w.worker_id, w.name, w.host, w.pid, w.sessions, shown.queues, w.started_at, howdah.now() - w.heartbeat_at,
        shown.in_hand, i.name
    from (
        select o.* from howdah.workers o
        where after_name is null or (o.name, o.started_at, o.worker_id) > (after_name,
            coalesce(after_start, '-infinity'), coalesce(after_worker, '00000000-0000-0000-0000-000000000000'))
        order by o.name, o.started_at, o.worker_id limit howdah._most_rows(max_rows)
    ) w
    left join howdah.instances i on i.instance_id = w.instance_id
    cross join (select howdah._sees_all() as all_of_it) caller
    cross join lateral (
        select case when caller.all_of_it then w.queues else array(
                select q.name from unnest(w.queues) with ordinality q(name, n)
                join howdah.destinations d on d.name = q.name and d.dropped_at is null
                where howdah._sees(d.id) order by q.n) end as queues,
            case when caller.all_of_it then w.in_hand else coalesce((
                select jsonb_object_agg(h.key, h.value) from jsonb_each(w.in_hand) h
                join howdah.destinations d on d.name = h.key and d.dropped_at is null
                where howdah._sees(d.id)), '{}') end as in_hand
    ) shown
    order by w.name, w.started_at, w.worker_id
$$;
