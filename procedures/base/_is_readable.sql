-- howdah._is_readable(p_at): whether a time is one that every client can read, in whatever time zone.
--
-- Returns  boolean; NULL for none.
-- Role     internal
--
-- PostgreSQL's times go from 4713 BC to the year 294276 and to infinity; Python's and Java's do not. Whatever a caller
-- gives that is stored is asked.
create or replace function howdah._is_readable(p_at timestamptz) returns boolean
language sql immutable parallel safe
as $$ select p_at between timestamptz '1970-01-01 00:00:00+00' and timestamptz '9999-12-31 00:00:00+00' $$;
