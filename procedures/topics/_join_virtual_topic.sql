-- howdah._join_virtual_topic(p_queue_id, p_queue): give a queue named Consumer.NAME.VirtualTopic.X the messages of the
-- topic VirtualTopic.X.
--
-- Role     internal
create or replace function howdah._join_virtual_topic(p_queue_id integer, p_queue text) returns void
language sql volatile
as $$
    insert into howdah.bridges (topic_id, queue_id)
    select d.id, p_queue_id from howdah.destinations d
    where d.kind = 'topic' and d.dropped_at is null and d.name = substr(p_queue, strpos(p_queue, '.VirtualTopic.') + 1);
    select howdah._note_readers(b.topic_id) from howdah.bridges b where b.queue_id = p_queue_id
$$;
