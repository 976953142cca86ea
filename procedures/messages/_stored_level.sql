-- howdah._stored_level(p_level): a level of reliability (0 to 4) as rows have it.
--
-- Returns  smallint; NULL for assured and for express, so that usual messages store nothing.
-- Role     internal
create or replace function howdah._stored_level(p_level smallint) returns smallint
language sql immutable
as $$
    select case when p_level in (0, 2, 3) then p_level end
$$;
