-- howdah._is_swallowed(p_sqlstate): whether an error of storing a best-effort message loses that message alone.
--
-- Returns  boolean; false if the sender gets the error.
-- Role     internal
--
-- A full queue or engine, a trigger, a constraint and a lack of resources are such errors. Wrong arguments and missing
-- rights are not. Errors after which the caller must retry the whole transaction are not, either. A cancelled call is
-- never caught.
create or replace function howdah._is_swallowed(p_sqlstate text) returns boolean
language sql immutable
as $$
    select p_sqlstate in ('HD018', 'HD027')
        or left(p_sqlstate, 2) not in ('HD', '25', '57', 'XX') and p_sqlstate not in ('40001', '42501')
$$;
