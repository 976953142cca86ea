-- howdah._sees(p_destination_id): whether lists show the caller a destination.
--
-- Returns  boolean: true for callers who may send, receive, browse or administer there. Nobody sees a number that is
--          NULL.
-- Raises   HD010 called from a maintenance command.
-- Role     internal
--
-- A list asks howdah._sees_all() first, once.
create or replace function howdah._sees(p_destination_id integer) returns boolean
language plpgsql stable cost 1
as $$
begin
    return howdah._has_right(p_destination_id, 'receive') or howdah._has_right(p_destination_id, 'send')
        or howdah._has_right(p_destination_id, 'browse') or howdah._has_right(p_destination_id, 'admin');
end
$$;
