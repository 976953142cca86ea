-- howdah._microseconds(p_at): a time as a hint remembers it.
--
-- Returns  microseconds since 1970 (bigint).
-- Role     internal
create or replace function howdah._microseconds(p_at timestamptz) returns bigint
language sql stable
as $$ select (extract(epoch from p_at) * 1000000)::bigint $$;
