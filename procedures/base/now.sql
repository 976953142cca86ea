-- howdah.now(): the only clock of Howdah, the time at the call and not at the start of the transaction.
--
-- Returns  timestamptz.
-- Role     everybody
--
-- PostgreSQL's now() stands still inside a transaction, while a JMS timestamp is that of the send call. Tests replace
-- this function in their own database; there is no setting by which a caller could forge the time.
create or replace function howdah.now() returns timestamptz
language sql volatile parallel safe
as $$ select clock_timestamp() $$;

-- howdah._span(p_length): a length of time as so many seconds, which are as many in every time zone.
--
-- Returns  interval.
-- Role     internal
--
-- A day added to a timestamp is a day of the session's time zone, 23 to 25 hours. A caller's setting decides nothing here.
create or replace function howdah._span(p_length interval) returns interval
language sql immutable parallel safe
as $$ select interval '1 second' * extract(epoch from p_length)::float8 $$;

-- howdah._is_readable(p_at): whether a time is one that every client can read, in whatever time zone.
--
-- Returns  boolean; NULL for none.
-- Role     internal
--
-- PostgreSQL's times go from 4713 BC to the year 294276 and to infinity; Python's and Java's do not. Whatever a caller gives that is stored is asked.
create or replace function howdah._is_readable(p_at timestamptz) returns boolean
language sql immutable parallel safe
as $$ select p_at between timestamptz '1970-01-01 00:00:00+00' and timestamptz '9999-12-31 00:00:00+00' $$;

-- howdah._utc(p_at): a time as text for JSON, whatever time zone and style the session has.
--
-- Returns  text (ISO 8601).
-- Role     internal
create or replace function howdah._utc(p_at timestamptz) returns text
language sql stable parallel safe
as $$ select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') $$;
