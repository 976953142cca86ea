-- howdah._is_readable(p_at): whether every client can read a time, in any time zone.
--
-- Returns  boolean; NULL for NULL.
-- Role     internal
--
-- PostgreSQL's times go from 4713 BC to the year 294276 and to infinity; those of Python and Java do not. Every
-- function checks a caller's time before it stores it.
create or replace function howdah._is_readable(p_at timestamptz) returns boolean
language sql immutable parallel safe
as $$ select p_at between timestamptz '1970-01-01 00:00:00+00' and timestamptz '9999-12-31 00:00:00+00' $$;
