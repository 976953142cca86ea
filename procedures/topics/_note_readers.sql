-- howdah._note_readers(p_topic_id): note whether messages of a topic need to be stored, and whether they go on into
-- queues.
--
-- Role     internal
--
-- Two statements: the second must see what another session did that the first waited for.
create or replace function howdah._note_readers(p_topic_id integer) returns void
language sql volatile
as $$
    -- Of two who change it at a time the second sees what the first one did, for it waits before its statement begins.
    select from howdah.topics t where t.destination_id = p_topic_id for no key update;
    update howdah.topics t
    set stored = exists (select from howdah.acks a where a.destination_id = t.destination_id)
            or t.retain_ms is not null or t.retain_bytes is not null or t.recovery <> 'none',
        bridged = exists (select from howdah.bridges b where b.topic_id = t.destination_id)
    where t.destination_id = p_topic_id
$$;
