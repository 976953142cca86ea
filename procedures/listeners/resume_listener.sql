-- howdah.resume_listener(listener): let a stopped listener receive again; its counter continues.
--
-- Returns  true if it was stopped (boolean).
-- Raises   HD001 no such queue; HD010 not allowed; HD020 no such listener; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- As in WebSphere, only a handled message sets the counter to 0. If the next delivery also fails, the listener stops
-- again. Receivers that wait for a message of the queue are woken when the transaction commits.
create or replace function howdah.resume_listener(listener text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener howdah.listeners := howdah._listener(listener, 'admin');
    v_stopped boolean;
    v_before jsonb := howdah._properties('listener', listener);
begin
    perform from howdah.listeners l where l.id = v_listener.id for no key update;
    select l.status = 'stopped' into v_stopped from howdah.listeners l where l.id = v_listener.id;
    update howdah.listeners l
    set status = 'running', stopped_at = null, stopped_by = null, stopped_message_id = null, stop_reason = null
    where l.id = v_listener.id;
    perform howdah._wake(d.id, d.waiting) from howdah.destinations d
    where d.id = v_listener.destination_id and pg_sequence_last_value(d.waiting) is not null;
    perform howdah._record_change('listener', listener, 'altered', v_before, howdah._properties('listener', listener));
    return coalesce(v_stopped, false);
end
$$;
