-- howdah.now(): Howdah's only clock: the time of the call, not of the transaction's start.
--
-- Returns  timestamptz.
-- Role     everybody
--
-- PostgreSQL's now() stands still within a transaction, but a JMS timestamp is that of the send call. Tests replace
-- this function in their own database. There is no setting with which a caller could forge the time.
create or replace function howdah.now() returns timestamptz
language sql volatile parallel safe
as $$ select clock_timestamp() $$;
