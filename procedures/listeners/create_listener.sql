-- howdah.create_listener(listener, queue, options): create a listener that runs.
--
-- Returns  a warning (text) if its limit contradicts the queue's, otherwise NULL.
-- Raises   HD001 no such queue; HD003 bad name; HD004 unknown or wrong option; HD010 not allowed; HD021 it exists
--          already; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- options is a JSON object: max_sessions (10), stop_on_failure (true), sequential_failures (0) and kind
-- (activation_specification or listener_port, which are the same).
create or replace function howdah.create_listener(listener text, queue text, options jsonb default '{}') returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener howdah.listeners := howdah._new_listener(listener, howdah._queue(queue, 'admin'), options);
begin
    if not howdah._add_listener(v_listener) then
        raise exception using errcode = 'HD021', message = format('listener %s exists already',
            quote_literal(listener)),
            hint = 'See howdah.list_listeners(); howdah.alter_listener(listener, options) changes it.';
    end if;
    return howdah._listener_warning(v_listener);
end
$$;
