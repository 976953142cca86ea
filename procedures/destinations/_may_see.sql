-- howdah._may_see(p_destination_id): whether lists show a destination to the caller: whoever has a right there sees it.
--
-- Returns  boolean.
-- Raises   HD010 as howdah._refuse_maintenance.
-- Role     internal
--
-- Lists ask howdah._sees_all once before, so that administrators wait for no look at each destination.
create or replace function howdah._may_see(p_destination_id integer) returns boolean
language plpgsql stable
as $$
begin
    return howdah._has_right(p_destination_id, 'receive') or howdah._has_right(p_destination_id, 'browse')
        or howdah._has_right(p_destination_id, 'send') or howdah._has_right(p_destination_id, 'admin');
end
$$;
