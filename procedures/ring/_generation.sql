-- howdah._generation(): how often the ring of topic tables was turned; modulo 3 it is the number of those written to
-- now.
--
-- Returns  bigint.
-- Role     internal
--
-- A sequence, so that it holds at once for everybody, transactions with an old snapshot too.
create or replace function howdah._generation() returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value('howdah.topic_generation'::regclass), 0) $$;
