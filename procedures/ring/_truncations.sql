-- howdah._truncations(): how often a topic table was emptied.
--
-- Returns  bigint; also of a transaction that has not committed.
-- Role     internal
--
-- Whoever moves a cursor asks before finding out which tables to read, and compares (howdah._same_ring) after having
-- read them, whose locks it holds by then: in between a table may have been emptied and what it needed carried on into
-- another one.
create or replace function howdah._truncations() returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0) $$;
