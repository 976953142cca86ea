-- howdah.drop_topic(topic, force): drop a topic; force also drops one with subscriptions, which lose what they have not
-- read.
--
-- Returns  the number of subscriptions that read it (bigint).
-- Raises   HD001 no such topic; HD005 it has subscriptions, and the transaction is not READ COMMITTED; HD010 not
--          allowed; HD011 it has subscriptions; HD024 one of them is being read, or messages of it are leased; HD045
--          the master of changes is away.
-- Role     howdah_admin
--
-- Subscriptions of this topic alone are dropped, too. Wildcard subscriptions continue without it.
create or replace function howdah.drop_topic(topic text, force boolean default false) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic howdah.destinations;
    v_count bigint;
    v_name text;
begin
    loop  -- while this waits, the topic may be dropped and another one of its name created
        v_topic := howdah._topic(topic, 'admin');
        perform from howdah.destinations d where d.id = v_topic.id and d.dropped_at is null for update;
        exit when found;
    end loop;
    v_count := (select count(distinct a.subscription_id) from howdah.acks a where a.destination_id = v_topic.id);
    if v_count > 0 and force is not true then
        raise exception using errcode = 'HD011', message = format('topic %s has %s subscriptions', quote_literal(topic),
            v_count),
            hint = 'Unsubscribe them, or drop it with force => true.';
    end if;
    perform howdah._record_dropped(v_topic);
    for v_name in
        select d.name from howdah.subscriptions s join howdah.destinations d on d.id = s.destination_id
        where d.dropped_at is null and s.topic = drop_topic.topic
    loop
        perform howdah._unsubscribe((howdah._subscription(v_name, 'admin')), 'topic dropped');
    end loop;
    delete from howdah.ack_cursors c using howdah.acks a where a.destination_id = v_topic.id and c.ack_id = a.id;
    delete from howdah.acked c using howdah.acks a where a.destination_id = v_topic.id and c.ack_id = a.id;
    delete from howdah.acks a where a.destination_id = v_topic.id;
    delete from howdah.bridges b where b.topic_id = v_topic.id;
    update howdah.topics t set stored = false, bridged = false where t.destination_id = v_topic.id;
    perform howdah._adopt(v_topic.id);
    perform howdah._end_destination(v_topic.id);
    return v_count;
end
$$;
