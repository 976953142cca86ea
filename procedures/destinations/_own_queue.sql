-- howdah._own_queue(p_name): a queue that the caller may administer and that is not the engine's own.
--
-- Returns  howdah.destinations.
-- Raises   HD001 no such queue; HD010 not allowed; HD012 the queue belongs to the engine.
-- Role     internal
create or replace function howdah._own_queue(p_name text) returns howdah.destinations
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_name, 'admin');
begin
    if v_destination.is_system then
        raise exception using errcode = 'HD012', message = format('queue %s belongs to the engine',
            quote_literal(p_name)),
            hint =
                'The system exception destination can be read, replayed and purged, but neither changed nor dropped.';
    end if;
    return v_destination;
end
$$;
