-- howdah._level_of(p_reliability, p_nonpersistent): a stored message's level of reliability, 0 to 4.
--
-- Returns  smallint.
-- Role     internal
create or replace function howdah._level_of(p_reliability smallint, p_nonpersistent boolean) returns smallint
language sql immutable
as $$
    select coalesce(p_reliability, case when p_nonpersistent then 1 else 4 end)::smallint
$$;
