-- howdah.create_listener(listener, queue, options): create a listener, running.
--
-- Returns  a warning (text) if its limit contradicts the queue's, else NULL.
-- Raises   HD001 no such queue; HD003 bad name; HD004 unknown or wrong option; HD010 not allowed; HD021 it exists already.
-- Role     howdah_admin
--
-- Options, as a JSON object: max_sessions (10), stop_on_failure (true), sequential_failures (0), kind
-- (activation_specification, listener_port; they are the same).
create or replace function howdah.create_listener(listener text, queue text, options jsonb default '{}') returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener howdah.listeners := howdah._new_listener(listener, howdah._queue(queue, 'admin'), options);
begin
    if not howdah._add_listener(v_listener) then
        raise exception using errcode = 'HD021', message = format('listener %s exists already', quote_literal(listener)),
            hint = 'See howdah.list_listeners(); howdah.alter_listener(listener, options) changes it.';
    end if;
    return howdah._listener_warning(v_listener);
end
$$;

-- howdah._new_listener(p_name, p_destination, p_options): the row of a new listener, not yet stored.
--
-- Returns  howdah.listeners.
-- Raises   HD003 bad name; HD004 unknown or wrong option.
-- Role     internal
create or replace function howdah._new_listener(p_name text, p_destination howdah.destinations, p_options jsonb)
returns howdah.listeners
language plpgsql volatile
as $$
begin
    if p_name is null or p_name !~ '^[A-Za-z0-9._/-]{1,242}$' then
        raise exception using errcode = 'HD003',
            message = format('bad listener name %s', coalesce(quote_literal(left(p_name, 250)), 'NULL')),
            hint = 'A name has 1 to 242 characters out of A-Z a-z 0-9 . _ - /';
    end if;
    return howdah._with_listener_options(jsonb_populate_record(null::howdah.listeners, jsonb_build_object(
        'name', p_name, 'destination_id', p_destination.id, 'kind', 'activation_specification', 'max_sessions', 10,
        'stop_on_failure', true, 'sequential_failures', 0, 'failures', 0, 'total_failures', 0, 'status', 'running',
        'created_at', howdah.now(), 'created_by', howdah._caller())), p_options);
end
$$;

-- howdah._add_listener(p_listener): store a new listener.
--
-- Returns  whether there was none of that name (boolean).
-- Raises   HD001 its queue was dropped meanwhile.
-- Role     internal
create or replace function howdah._add_listener(p_listener howdah.listeners) returns boolean
language plpgsql volatile
as $$
declare
    v_id integer;
begin
    perform from howdah.destinations d where d.id = p_listener.destination_id and d.dropped_at is null for key share;
    if not found then
        raise exception using errcode = 'HD001', message = 'the queue of the listener was dropped just now';
    end if;
    loop  -- numbers begin anew when they are used up, and some may be in use
        insert into howdah.listeners (name, destination_id, kind, max_sessions, stop_on_failure, sequential_failures, created_at,
            created_by)
        values (p_listener.name, p_listener.destination_id, p_listener.kind, p_listener.max_sessions, p_listener.stop_on_failure,
            p_listener.sequential_failures, p_listener.created_at, p_listener.created_by)
        on conflict do nothing
        returning id into v_id;
        exit when v_id is not null or exists (select from howdah.listeners l where l.name = p_listener.name);
    end loop;
    delete from howdah.listener_marks m where m.listener_id = v_id;  -- of one that had the number before
    return v_id is not null;
end
$$;
