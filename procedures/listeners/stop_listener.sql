-- howdah.stop_listener(listener, reason): stop a listener until it is resumed.
--
-- Returns  true if it was running (boolean).
-- Raises   HD001 no such queue; HD010 not allowed; HD020 no such listener; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- Its sessions finish what they have in hand. A listener that has already stopped keeps its reason.
create or replace function howdah.stop_listener(listener text, reason text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._listener(listener, 'admin')).id;
    v_before jsonb := howdah._properties('listener', listener);
    v_stopped boolean;
begin
    update howdah.listeners l
    set status = 'stopped', stopped_at = howdah.now(), stopped_by = howdah._caller(), stop_reason = reason
    where l.id = v_id and l.status = 'running';
    v_stopped := found;
    perform howdah._record_change('listener', listener, 'altered', v_before, howdah._properties('listener', listener));
    return v_stopped;
end
$$;
