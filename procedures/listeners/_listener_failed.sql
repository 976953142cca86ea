-- howdah._listener_failed(p_listener_id, p_failures, p_incident_id): count failures of a listener, and stop it at its
-- limit.
--
-- Returns  its status afterwards (text); NULL if it was dropped. p_incident_id is the last of the failures, or NULL if
--          there are none.
-- Role     internal
create or replace function howdah._listener_failed(
    p_listener_id integer, p_failures integer, p_incident_id bigint
) returns text
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
        set failures = least(l.failures, l.total_failures - v_handled) + p_failures,
            total_failures = l.total_failures + p_failures
        where l.id = p_listener_id;
    end if;
    select l.* into v_listener from howdah.listeners l where l.id = p_listener_id;
    if p_failures > 0 and v_listener.status = 'running'
       and v_listener.failures >= howdah._listener_limit(v_listener) then
        update howdah.listeners l
        set status = 'stopped', stopped_at = howdah.now(), stopped_by = howdah._caller(),
            stopped_message_id = p.message_id, stop_reason = format('failed deliveries in a row: %s; the last one: %s',
                v_listener.failures, left(coalesce(p.error_class || ': ', '')
                    || coalesce(p.error_text, 'no error text'), 500))
        from howdah.poison_details p
        where l.id = p_listener_id and p.incident_id = p_incident_id
        returning l.status, l.stop_reason, l.stopped_message_id
        into v_listener.status, v_listener.stop_reason, v_listener.stopped_message_id;
        perform case when d.notify_admin then howdah._advise('LISTENER_STOPPED', d.name, f.facts)
                     else howdah._log_event('LISTENER_STOPPED', d.name, f.facts) end
        from howdah.destinations d
        cross join jsonb_build_object('listener', v_listener.name, 'message_id', v_listener.stopped_message_id,
            'reason', v_listener.stop_reason) f(facts)
        where d.id = v_listener.destination_id;
        perform howdah._announce('LISTENER_STOPPED', d.name,
            jsonb_build_object('listener', v_listener.name, 'message_id', v_listener.stopped_message_id))
        from howdah.destinations d where d.id = v_listener.destination_id and d.notify_events;
    end if;
    return v_listener.status;
end
$$;
