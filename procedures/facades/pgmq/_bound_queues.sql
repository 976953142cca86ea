-- pgmq._bound_queues(p_routing_key): the queues that are bound to a pattern which a routing key matches.
--
-- Returns  the name of each, once, in the order of names.
-- Role     internal
create or replace function pgmq._bound_queues(p_routing_key text) returns setof text
language sql stable
as $$
    select distinct b.queue_name from pgmq.topic_bindings b where p_routing_key ~ b.compiled_regex order by 1
$$;
