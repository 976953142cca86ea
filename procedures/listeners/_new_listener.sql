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
