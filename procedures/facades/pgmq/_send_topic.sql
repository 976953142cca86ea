-- pgmq._send_topic(p_routing_key, p_message, p_headers, p_delay): send a message to each queue that is bound to a
-- pattern which the routing key matches.
--
-- Returns  the number of queues (integer).
-- Raises   as pgmq.send_topic.
-- Role     internal
create or replace function pgmq._send_topic(p_routing_key text, p_message jsonb, p_headers jsonb, p_delay integer)
returns integer
language plpgsql volatile
as $$
begin
    perform pgmq.validate_routing_key(p_routing_key);
    if p_message is null then
        raise exception 'msg cannot be NULL';
    elsif p_delay < 0 then
        raise exception 'delay cannot be negative, got: %', p_delay;
    end if;
    return (
        select count(pgmq._send_later(q.queue_name, p_message, p_headers, p_delay))
        from pgmq._bound_queues(p_routing_key) q(queue_name));
end
$$;
