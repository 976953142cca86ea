-- howdah._is_overdue(p_search, p_pace): whether a step of a search has been due for 5 ms or more, because nobody
-- receives in quick succession.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_overdue(p_search bigint, p_pace bigint) returns boolean
language sql immutable
as $$ select (p_pace - (coalesce(p_search, 0) & 1048575)) & 1048575 between 5 and 1046575 $$;
