-- howdah.alter_listener(listener, options): change options of a listener, with effect from the next receive and the
-- next failure.
--
-- Returns  a warning (text) if its limit contradicts the queue's, otherwise NULL.
-- Raises   HD001 no such queue; HD003 a name is not a valid queue name; HD004 unknown or wrong option; HD010 not
--          allowed; HD020 no such listener; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- A stopped listener stays stopped until howdah.resume_listener. With fewer sessions, those at work finish first.
create or replace function howdah.alter_listener(listener text, options jsonb) returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_new howdah.listeners;
    v_before jsonb;
begin
    perform from howdah.listeners l where l.name = listener for no key update;
    v_new := howdah._with_listener_options(howdah._listener(listener, 'admin'), options);
    v_before := howdah._properties('listener', listener);
    update howdah.listeners l
    set max_sessions = v_new.max_sessions, stop_on_failure = v_new.stop_on_failure,
        sequential_failures = v_new.sequential_failures, kind = v_new.kind
    where l.id = v_new.id;
    perform howdah._record_change('listener', listener, 'altered', v_before, howdah._properties('listener', listener));
    return howdah._listener_warning(v_new);
end
$$;
