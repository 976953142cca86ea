-- howdah._add_listener(p_listener): store a new listener.
--
-- Returns  true if there was none of that name (boolean).
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
    loop  -- ids start again when they are used up, and some may be in use
        insert into howdah.listeners (name, destination_id, kind, max_sessions, stop_on_failure, sequential_failures,
            created_at, created_by)
        values (p_listener.name, p_listener.destination_id, p_listener.kind, p_listener.max_sessions,
            p_listener.stop_on_failure, p_listener.sequential_failures, p_listener.created_at, p_listener.created_by)
        on conflict do nothing
        returning id into v_id;
        exit when v_id is not null or exists (select from howdah.listeners l where l.name = p_listener.name);
    end loop;
    delete from howdah.listener_marks m where m.listener_id = v_id;  -- marks of a listener that had this id before
    perform howdah._record_change('listener', p_listener.name, 'created', null,
        howdah._properties('listener', p_listener.name)) where v_id is not null;
    return v_id is not null;
end
$$;
