-- howdah._note_readers(p_topic_id): record whether messages of a topic need to be stored, and whether they are sent on
-- to queues.
--
-- Role     internal
--
-- There are two statements, so that the second sees what another session did while the first waited.
create or replace function howdah._note_readers(p_topic_id integer) returns void
language sql volatile
as $$
    -- Of two concurrent changers, the second sees what the first did, because it waits before its statement begins.
    select from howdah.topics t where t.destination_id = p_topic_id for no key update;
    update howdah.topics t
    set stored = exists (select from howdah.acks a where a.destination_id = t.destination_id)
            or t.retain_ms is not null or t.retain_bytes is not null or t.recovery <> 'none',
        bridged = exists (select from howdah.bridges b where b.topic_id = t.destination_id)
    where t.destination_id = p_topic_id
$$;
