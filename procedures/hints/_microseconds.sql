-- howdah._microseconds(p_at): a time in the form that a hint holds.
--
-- Returns  microseconds since 1970 (bigint).
-- Role     internal
create or replace function howdah._microseconds(p_at timestamptz) returns bigint
language sql stable
as $$ select (extract(epoch from p_at) * 1000000)::bigint $$;
