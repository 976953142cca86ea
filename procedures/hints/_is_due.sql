-- howdah._is_due(p_search, p_pace): whether a step of a search is due.
--
-- Returns  boolean.
-- Role     internal
--
-- The low 20 bits of p_search hold the time, modulo 2^20 ms (17 minutes). No step sets a time more than 2 s ahead, so
-- such a value is old or wrong.
create or replace function howdah._is_due(p_search bigint, p_pace bigint) returns boolean
language sql immutable
as $$ select (coalesce(p_search, 0) - p_pace - 1) & 1048575 >= 2000 $$;
