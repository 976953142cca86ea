-- howdah.list_listeners(listener): list the listeners, or one, of queues that the caller has any right to.
--
-- Returns  one row per listener; warning says whether its limit contradicts the queue's.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- stop_reason may quote an error. So it is shown, like incidents, only to roles that may browse the queue.
create or replace function howdah.list_listeners(listener text default null) returns table (
    listener_name text, queue text, kind text, max_sessions integer, stop_on_failure boolean,
    sequential_failures integer, failures integer, status text, stopped_at timestamptz, stopped_by text,
    stopped_message_id bigint, stop_reason text, warning text, created_at timestamptz, created_by text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select l.name, d.name, l.kind, l.max_sessions, l.stop_on_failure, l.sequential_failures,
        howdah._listener_failures(l), l.status, l.stopped_at, l.stopped_by, l.stopped_message_id,
        case when howdah._has_right(d.id, 'browse') then l.stop_reason end,
        howdah._listener_warning(l), l.created_at, l.created_by
    from howdah.listeners l join howdah.destinations d on d.id = l.destination_id
    where (list_listeners.listener is null or l.name = list_listeners.listener)
      and ((select howdah._sees_all()) or howdah._sees(d.id))
    order by l.name
$$;
