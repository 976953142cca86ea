-- howdah._from_microseconds(p_microseconds): the time that a hint holds.
--
-- Returns  timestamptz.
-- Role     internal
--
-- A hint may hold any number; one that exceeds an interval means a time in the far future.
create or replace function howdah._from_microseconds(p_microseconds bigint) returns timestamptz
language sql stable
as $$ select timestamptz 'epoch' + least(p_microseconds, 9000000000000000000) * interval '1 microsecond' $$;
