-- howdah._generation(): how often the ring of topic tables was turned; modulo 3, the number of the open tables.
--
-- Returns  bigint.
-- Role     internal
--
-- It is a sequence, so that it takes effect at once for everybody, even for transactions with an old snapshot.
create or replace function howdah._generation() returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value('howdah.topic_generation'::regclass), 0) $$;
