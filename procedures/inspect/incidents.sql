-- howdah.incidents(queue, message_id, max_incidents): the failed deliveries of a queue's messages, newest first.
--
-- Returns  rows of poison_details; of one message if message_id is given.
-- Raises   HD001 no such queue; HD005 max_incidents is not positive; HD010 not allowed.
-- Role     howdah_browser howdah_consumer howdah_admin
--
-- queue is where the deliveries failed; NULL means every queue the caller may browse.
create or replace function howdah.incidents(
    queue text default null, message_id bigint default null, max_incidents integer default 100
) returns table (
    incident_id bigint, queue_name text, message bigint, stage integer, attempt integer, outcome text, error_class text,
    error_text text, sqlstate text, traceback text, worker text, duration_ms integer, conversation_id uuid,
    details jsonb, recorded_at timestamptz, recorded_by text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if max_incidents is null or max_incidents < 1 then
        raise exception using errcode = 'HD005',
            message = format('max_incidents must be positive, not %s', coalesce(max_incidents::text, 'NULL'));
    end if;
    if queue is not null then
        perform howdah._destination(queue, 'browse');
    end if;
    return query
    select p.incident_id, d.name, p.message_id, p.stage::integer, p.attempt, p.outcome, p.error_class, p.error_text,
        p.sqlstate, p.traceback, p.worker, p.duration_ms, p.conversation_id, p.details, p.recorded_at, p.recorded_by
    from howdah.poison_details p
    join howdah.destinations d on d.id = p.destination_id
    where (queue is null or d.name = queue) and (incidents.message_id is null or p.message_id = incidents.message_id)
      and exists (select from howdah.destination_grants g
                  where g.destination_id = d.id and g.verb = 'browse'
                    and pg_has_role(howdah._caller()::name, g.role_name::name, 'MEMBER'))
    order by p.incident_id desc
    limit max_incidents;
end
$$;
