-- howdah.incidents(queue, message_id, max_incidents, only_class, only_fingerprint, older_than, newer_than,
-- before_incident): list the failed deliveries of a queue's messages, newest first.
--
-- Returns  rows of poison_details; with message_id, those of one message.
-- Raises   HD001 no such queue; HD005 max_incidents is not positive; HD010 not allowed.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- queue is where the deliveries failed; NULL means every queue that the caller may browse. only_class: of that error
-- class. only_fingerprint: of that cause (howdah.poison_causes). older_than, newer_than: recorded before that time, or
-- from it on. For the next page, pass the last incident_id as before_incident.
create or replace function howdah.incidents(
    queue text default null, message_id bigint default null, max_incidents integer default 100,
    only_class text default null, only_fingerprint text default null, older_than timestamptz default null,
    newer_than timestamptz default null, before_incident bigint default null
) returns table (
    incident_id bigint, queue_name text, message bigint, stage integer, attempt integer, outcome text, error_class text,
    error_text text, sqlstate text, traceback text, worker text, duration_ms integer, conversation_id uuid,
    details jsonb, recorded_at timestamptz, recorded_by text, fingerprint text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
    v_id integer;
begin
    if max_incidents is null or max_incidents < 1 then
        raise exception using errcode = 'HD005',
            message = format('max_incidents must be positive, not %s', coalesce(max_incidents::text, 'NULL'));
    end if;
    if queue is not null then
        v_id := (howdah._destination(queue, 'browse')).id;
    end if;
    return query
    select p.incident_id, d.name, p.message_id, p.stage::integer, p.attempt, p.outcome, p.error_class, p.error_text,
        p.sqlstate, p.traceback, p.worker, p.duration_ms, p.conversation_id, p.details, p.recorded_at, p.recorded_by,
        p.fingerprint
    from howdah.poison_details p
    join howdah.destinations d on d.id = p.destination_id
    where (v_id is null or p.destination_id = v_id)
      and (incidents.message_id is null or p.message_id = incidents.message_id)
      and (before_incident is null or p.incident_id < before_incident)
      and (only_class is null or p.error_class = only_class)
      and (only_fingerprint is null or p.fingerprint = only_fingerprint)
      and (older_than is null or p.recorded_at < older_than) and (newer_than is null or p.recorded_at >= newer_than)
      and howdah._has_right(d.id, 'browse')
    order by p.incident_id desc
    limit max_incidents;
end
$$;
