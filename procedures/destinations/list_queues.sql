-- howdah.list_queues(temporary): list the queues that the caller may use, with their main options, by name.
--
-- Returns  one row per queue, including the engine's own, and temporary ones if asked for. blocked_retry_ms and
--          max_message_bytes are the values in effect. howdah.queue_options has the other options.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_queues(temporary boolean default false) returns table (
    queue text, is_system boolean, sending_paused boolean, receiving_paused boolean, max_failed_deliveries integer,
    exception_mode text, exception_queue text, redelivery_delay_ms bigint, blocked_retry_ms bigint,
    max_message_bytes bigint, default_priority integer, default_time_to_live_ms bigint, journal_level text,
    created_at timestamptz, created_by text, auto_created boolean, keep_bodies_ms bigint, last_value_key text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select d.name, d.is_system, d.sending_paused, d.receiving_paused, d.max_failed_deliveries,
        d.exception_mode, d.exception_queue, d.redelivery_delay_ms,
        case when d.override_blocked_retry then d.blocked_retry_ms else e.default_blocked_retry_ms end,
        d.max_message_bytes, d.default_priority, d.default_time_to_live_ms, d.journal_level,
        d.created_at, d.created_by, d.auto_created, d.keep_bodies_ms, d.last_value_key
    from howdah.destinations d cross join howdah.engine e
    where d.dropped_at is null and d.kind = 'queue' and (not d.name ^@ '_TEMP.' or temporary and exists (
        select from howdah.temporary_queues t where t.destination_id = d.id and t.boot = pg_postmaster_start_time()))
      and ((select howdah._sees_all()) or howdah._sees(d.id))
    order by d.name
$$;
