-- howdah.unbridge(topic, queue): stop sending a topic's messages on to a queue.
--
-- Returns  true if the topic was bridged to the queue (boolean).
-- Raises   HD001 no such topic or queue; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function howdah.unbridge(topic text, queue text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic howdah.destinations := howdah._topic(topic, 'admin');
    v_queue howdah.destinations := howdah._destination(queue, 'admin');
    v_name text := concat_ws(' ', topic, queue);
    v_before jsonb := howdah._properties('bridge', v_name);
begin
    delete from howdah.bridges b where b.topic_id = v_topic.id and b.queue_id = v_queue.id;
    perform howdah._note_readers(v_topic.id);
    perform howdah._record_change('bridge', v_name, 'dropped', v_before, null);
    return v_before is not null;
end
$$;
