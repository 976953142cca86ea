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
