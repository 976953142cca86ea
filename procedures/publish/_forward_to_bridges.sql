-- howdah._forward_to_bridges(p_topic, p_bodies, …): send published messages on to the queues that the topic is bridged
-- to.
--
-- Raises   HD007, HD018 as howdah.send_batch: a bridged queue refuses the message, and the publisher gets the error.
--          HD049 a bridge with a transformation needs READ COMMITTED.
-- Role     internal
--
-- A queue with stamp_user gets p_user as the sender. The bridge's selector sees that stamp; otherwise a forged
-- JMSXUserID could pass it.
--
-- p_scheduled: a schedule or a link publishes, so no sender's end discards the message.
create or replace function howdah._forward_to_bridges(
    p_topic howdah.destinations, p_bodies bytea[], p_is_text boolean, p_content_type text, p_headers jsonb[],
    p_priorities integer[], p_correlation_ids text[], p_message_types text[], p_conversation_ids uuid[],
    p_reply_to text, p_time_to_live interval, p_level smallint, p_notify boolean, p_user text, p_scheduled boolean
) returns void
language plpgsql volatile
as $$
declare
    v_bridge record;
    v_wanted record;
    v_selected bigint[];
    v_queue howdah.destinations;
    v_headers jsonb[];
begin
    for v_bridge in
        select d as queue, b.selector_sql, b.transformation
        from howdah.bridges b join howdah.destinations d on d.id = b.queue_id
        where b.topic_id = p_topic.id and d.dropped_at is null order by d.id
    loop
        v_selected := null;
        v_headers := case when (v_bridge.queue).stamp_user
            then howdah._stamped_all(p_headers, cardinality(p_bodies), p_user) else p_headers end;
        if v_bridge.selector_sql is not null then
            execute format('select coalesce(array_agg(m.n), ''{}'')
                from (select u.n, u.headers, 9 - coalesce(u.priority, $2) as rank, u.correlation_id, u.message_type,
                    $6 as message_id,
                          howdah.now() as sent_at, $7 <= 2 as nonpersistent, $7 as reliability
                      from unnest($1, $3, $4, $5) with ordinality u(headers, priority, correlation_id, message_type,
                          n)) m
                where (%s) is true', v_bridge.selector_sql)
            into v_selected
            using v_headers, p_topic.default_priority, p_priorities, p_correlation_ids, p_message_types, null::bigint,
                p_level;
        end if;
        select array_agg(u.body order by u.n) as bodies, array_agg(u.headers order by u.n) as headers,
            array_agg(u.priority order by u.n) as priorities,
            array_agg(u.correlation_id order by u.n) as correlation_ids,
            array_agg(u.message_type order by u.n) as message_types,
            array_agg(u.conversation_id order by u.n) as conversation_ids
        into v_wanted
        from (
            select b.body, b.headers, coalesce(b.priority, p_topic.default_priority) as priority, b.correlation_id,
            b.message_type,
                b.conversation_id, b.n
            from unnest(p_bodies, v_headers, p_priorities, p_correlation_ids, p_message_types, p_conversation_ids)
                with ordinality b(body, headers, priority, correlation_id, message_type, conversation_id, n)
        ) u
        where v_selected is null or u.n = any (v_selected);
        v_queue := v_bridge.queue;
        v_queue.discard_with_sender := v_queue.discard_with_sender and not p_scheduled;
        if v_wanted.bodies is null then
            null;
        elsif v_bridge.transformation is not null then
            perform howdah._bridge_transformed(v_queue, v_bridge.transformation, array(
                select row(null, p_topic.name, case when p_is_text then convert_from(w.body, 'UTF8') end,
                    case when not p_is_text then w.body end, p_content_type, coalesce(w.headers, '{}'), w.priority,
                    w.correlation_id, p_reply_to, w.message_type, w.conversation_id,
                    case when p_level <= 2 then 'non-persistent' else 'persistent' end, howdah.now(),
                    howdah.now() + howdah._span(p_time_to_live), 1, false, null, 0, null, null, null,
                    howdah._level_name(p_level, null))::howdah.message
                from unnest(v_wanted.bodies, v_wanted.headers, v_wanted.priorities, v_wanted.correlation_ids,
                    v_wanted.message_types, v_wanted.conversation_ids) with ordinality
                    w(body, headers, priority, correlation_id, message_type, conversation_id, n)
                order by w.n), p_time_to_live, p_notify, p_user);
        else
            perform howdah._send_batch(v_queue, v_wanted.bodies, p_is_text, p_content_type, v_wanted.headers,
                v_wanted.priorities, v_wanted.correlation_ids, v_wanted.message_types, v_wanted.conversation_ids,
                p_reply_to, p_time_to_live,
                null, howdah._level_name(p_level, null), p_notify);
        end if;
    end loop;
end
$$;
