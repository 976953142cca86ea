-- howdah._span(p_length): an interval as seconds, which are the same in every time zone.
--
-- Returns  interval.
-- Role     internal
--
-- A day added to a timestamp is a day of the session's time zone, of 23 to 25 hours. A caller's setting must decide
-- nothing here.
create or replace function howdah._span(p_length interval) returns interval
language sql immutable parallel safe
as $$ select interval '1 second' * extract(epoch from p_length)::float8 $$;
