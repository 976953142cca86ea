-- howdah.record_failures_as(listener, failures, in_hand): record failed deliveries of a listener, which may stop it.
--
-- Returns  message_id, incident_id, attempt and outcome of each, as howdah.record_failures, and the listener's status then.
-- Raises   HD001 no such queue; HD005 failures is no JSON array of objects with a message_id; HD010 not allowed;
--          HD020 no such listener; HD022 as howdah.record_failure.
-- Role     howdah_consumer howdah_admin
--
-- Each failure adds 1 to the counter that all sessions of all processes share; at greatest(sequential_failures, 1) the
-- listener stops, unless stop_on_failure is false. A failure whose failure_key was recorded before does not count again,
-- nor one that does not count for its message.
create or replace function howdah.record_failures_as(listener text, failures jsonb, in_hand boolean default false)
returns table (message_id bigint, incident_id bigint, attempt integer, outcome text, listener_status text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener howdah.listeners := howdah._listener(listener, 'receive');
    v_last bigint;
begin
    -- Before any message's lock, so that two such calls cannot deadlock.
    perform from howdah.listeners l where l.id = v_listener.id for no key update;
    v_last := coalesce(pg_sequence_last_value(pg_get_serial_sequence('howdah.poison_details', 'incident_id')::regclass), 0);
    return query
    with recorded as materialized (
        select r.*, row_number() over () as number
        from howdah.record_failures(howdah._name(v_listener.destination_id), failures, in_hand) r
    ), counted as materialized (
        select howdah._listener_failed(v_listener.id, cardinality(c.ids), c.ids[cardinality(c.ids)]) as status
        from (select howdah._counted(array_agg(r.incident_id)) as ids from recorded r where r.incident_id > v_last) c
    )
    select r.message_id, r.incident_id, r.attempt, r.outcome, c.status from recorded r, counted c order by r.number;
end
$$;

-- howdah._counted(p_incident_ids): those of some incidents that count as failures.
--
-- Returns  bigint[], ascending, never NULL.
-- Role     internal
create or replace function howdah._counted(p_incident_ids bigint[]) returns bigint[]
language sql volatile
as $$
    select array(select p.incident_id from howdah.poison_details p
                 where p.incident_id = any (p_incident_ids) and not p.uncounted order by p.incident_id)
$$;

-- howdah._listener_failed(p_listener_id, p_failures, p_incident_id): count failures of a listener and stop it at its limit.
--
-- Returns  its status (text) then; NULL if it was dropped. p_incident_id is the last of the failures, or NULL if there are none.
-- Role     internal
create or replace function howdah._listener_failed(p_listener_id integer, p_failures integer, p_incident_id bigint) returns text
language plpgsql volatile
as $$
declare
    v_listener howdah.listeners;
    v_handled bigint;
begin
    if p_failures > 0 then
        with marks as (
            delete from howdah.listener_marks m where m.listener_id = p_listener_id returning m.total_failures
        )
        select max(m.total_failures) into v_handled from marks m;
        update howdah.listeners l
        set failures = least(l.failures, l.total_failures - v_handled) + p_failures, total_failures = l.total_failures + p_failures
        where l.id = p_listener_id;
    end if;
    select l.* into v_listener from howdah.listeners l where l.id = p_listener_id;
    if p_failures > 0 and v_listener.status = 'running' and v_listener.failures >= howdah._listener_limit(v_listener) then
        update howdah.listeners l
        set status = 'stopped', stopped_at = howdah.now(), stopped_by = howdah._caller(), stopped_message_id = p.message_id,
            stop_reason = format('failed deliveries in a row: %s; the last one: %s', v_listener.failures,
                left(coalesce(p.error_class || ': ', '') || coalesce(p.error_text, 'no error text'), 500))
        from howdah.poison_details p
        where l.id = p_listener_id and p.incident_id = p_incident_id
        returning l.status, l.stop_reason, l.stopped_message_id
        into v_listener.status, v_listener.stop_reason, v_listener.stopped_message_id;
        perform howdah._advise('LISTENER_STOPPED', d.name, jsonb_build_object('listener', v_listener.name,
            'message_id', v_listener.stopped_message_id, 'reason', v_listener.stop_reason))
        from howdah.destinations d where d.id = v_listener.destination_id and d.notify_admin;
        perform howdah._announce('LISTENER_STOPPED', d.name,
            jsonb_build_object('listener', v_listener.name, 'message_id', v_listener.stopped_message_id))
        from howdah.destinations d where d.id = v_listener.destination_id and d.notify_events;
    end if;
    return v_listener.status;
end
$$;
