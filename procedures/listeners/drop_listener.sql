-- howdah.drop_listener(listener): drop a listener; its queue and the messages stay.
--
-- Raises   HD001 no such queue; HD010 not allowed; HD020 no such listener; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- Its sessions finish what they have in hand. A worker that uses it receives nothing more, until the listener is
-- created again or the worker is restarted.
create or replace function howdah.drop_listener(listener text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._listener(listener, 'admin')).id;
    v_before jsonb := howdah._properties('listener', listener);
begin
    delete from howdah.listeners l where l.id = v_id;
    delete from howdah.listener_marks m where not exists (select from howdah.listeners l where l.id = m.listener_id);
    perform howdah._record_change('listener', listener, 'dropped', v_before, null);
end
$$;
