-- howdah._is_large(p_bytes): whether a body of so many bytes lies apart from its message.
--
-- Returns  boolean.
-- Role     internal
--
-- A row of msgs with a longer one would be stored out of line by PostgreSQL, and written again wherever it is moved to.
create or replace function howdah._is_large(p_bytes integer) returns boolean
language sql immutable
as $$ select p_bytes > 1900 $$;
