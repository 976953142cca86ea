-- howdah._leave_topics(p_queue_id): remove all bridges to a queue.
--
-- Role     internal
create or replace function howdah._leave_topics(p_queue_id integer) returns void
language sql volatile
as $$
    with gone as (delete from howdah.bridges b where b.queue_id = p_queue_id returning b.topic_id)
    update howdah.topics t
    set bridged = exists (select from howdah.bridges b where b.topic_id = t.destination_id and b.queue_id <> p_queue_id)
    from gone g where t.destination_id = g.topic_id
$$;
