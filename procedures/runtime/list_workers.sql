-- howdah.list_workers(): list the registered worker processes.
--
-- Returns  one row per process; silent_for is the time since its last heartbeat. queues and in_hand: those the
--          caller may use.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_workers() returns table (
    worker_id uuid, name text, host text, pid integer, sessions integer, queues text[], started_at timestamptz,
    silent_for interval, in_hand jsonb, instance text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select w.worker_id, w.name, w.host, w.pid, w.sessions,
        case when (select howdah._sees_all()) then w.queues else array(
        select q.name from unnest(w.queues) with ordinality q(name, n)
        where howdah._sees((select d.id from howdah.destinations d where d.name = q.name and d.dropped_at is null))
        order by q.n) end, w.started_at, howdah.now() - w.heartbeat_at,
        case when (select howdah._sees_all()) then w.in_hand else coalesce((
        select jsonb_object_agg(h.key, h.value) from jsonb_each(w.in_hand) h
        where howdah._sees((select d.id from howdah.destinations d where d.name = h.key and d.dropped_at is null))),
        '{}') end, i.name
    from howdah.workers w left join howdah.instances i on i.instance_id = w.instance_id order by w.name, w.started_at
$$;
