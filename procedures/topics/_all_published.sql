-- howdah._all_published(p_topic_id): every stored message of a topic, whatever its transaction id.
--
-- Returns  xid and seq.
-- Role     internal
create or replace function howdah._all_published(p_topic_id integer) returns table (xid xid8, seq bigint)
language sql volatile
as $$
    select t.xid, t.seq from howdah.topic_msgs_0 t where t.destination_id = p_topic_id
    union all select t.xid, t.seq from howdah.topic_msgs_1 t where t.destination_id = p_topic_id
    union all select t.xid, t.seq from howdah.topic_msgs_2 t where t.destination_id = p_topic_id
$$;
