-- howdah._truncations(): how often a topic table was emptied.
--
-- Returns  bigint; it includes truncations by transactions that have not committed.
-- Role     internal
--
-- A caller that moves a cursor reads this before it finds out which tables to read. It compares (howdah._same_ring)
-- after reading them, when it holds their locks. In between, a table may have been emptied and its messages carried on
-- to another.
create or replace function howdah._truncations() returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0) $$;
