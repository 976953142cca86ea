-- howdah._span(p_length): a length of time as so many seconds, which are as many in every time zone.
--
-- Returns  interval.
-- Role     internal
--
-- A day added to a timestamp is a day of the session's time zone, 23 to 25 hours. A caller's setting decides nothing
-- here.
create or replace function howdah._span(p_length interval) returns interval
language sql immutable parallel safe
as $$ select interval '1 second' * extract(epoch from p_length)::float8 $$;
