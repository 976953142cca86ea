-- howdah._milliseconds(p_length): an interval in milliseconds.
--
-- Returns  bigint.
-- Role     internal
create or replace function howdah._milliseconds(p_length interval) returns bigint
language sql immutable
as $$ select round(extract(epoch from p_length) * 1000)::bigint $$;
