-- howdah._listener(p_name, p_verb): the listener with a given name, if the caller has a right to its queue.
--
-- Returns  the row of howdah.listeners; p_verb is receive or admin.
-- Raises   HD001 no such queue; HD010 not allowed; HD020 there is no such listener.
-- Role     internal
create or replace function howdah._listener(p_name text, p_verb text) returns howdah.listeners
language plpgsql volatile
as $$
declare
    v_listener howdah.listeners;
begin
    select l.* into v_listener from howdah.listeners l where l.name = p_name;
    if not found then
        raise exception using errcode = 'HD020',
            message = format('there is no listener %s', coalesce(quote_literal(left(p_name, 250)), 'NULL')),
            hint = 'Create it with howdah.create_listener(listener, queue), or see howdah.list_listeners().';
    end if;
    perform howdah._destination(howdah._destination_name(v_listener.destination_id), p_verb);
    return v_listener;
end
$$;
