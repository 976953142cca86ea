-- howdah._try_topics(p_topic_ids): lock topics as howdah._note_readers does, without waiting.
--
-- Returns  true if the caller has all of them now (boolean).
-- Role     internal
--
-- It is for functions that meet topics in any order. Those that wait take them by number, or two would deadlock.
create or replace function howdah._try_topics(p_topic_ids integer[]) returns boolean
language sql volatile
as $$
    select count(*) = cardinality(p_topic_ids)
    from (select from howdah.topics t where t.destination_id = any (p_topic_ids) for no key update skip locked) f
$$;
