-- pgmq._send_batch_topic(p_routing_key, p_messages, p_headers, p_vt): send many messages to each queue that is bound to
-- a pattern which the routing key matches.
--
-- Returns  one row a message and queue: queue_name and msg_id.
-- Raises   as pgmq.send_batch_topic.
-- Role     internal
create or replace function pgmq._send_batch_topic(
    p_routing_key text, p_messages jsonb[], p_headers jsonb[], p_vt timestamptz
) returns table (queue_name text, msg_id bigint)
language plpgsql volatile
as $$
begin
    perform pgmq.validate_routing_key(p_routing_key);
    perform pgmq._validate_batch_params(p_messages, p_headers);
    return query
    select q.queue_name, s.msg_id
    from pgmq._bound_queues(p_routing_key) q(queue_name)
        cross join lateral pgmq._send_batch(q.queue_name, p_messages, p_headers, p_vt) s(msg_id);
end
$$;
