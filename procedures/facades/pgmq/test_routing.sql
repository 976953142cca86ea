-- pgmq.test_routing(routing_key): show which bindings a routing key matches.
--
-- Returns  pattern, queue_name and compiled_regex of each.
-- Raises   P0001 a bad routing key.
-- Role     everybody
create or replace function pgmq.test_routing(routing_key text)
returns table (pattern text, queue_name text, compiled_regex text)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform pgmq.validate_routing_key(routing_key);
    return query
    select b.pattern, b.queue_name, b.compiled_regex from pgmq.topic_bindings b
    where routing_key ~ b.compiled_regex order by b.pattern;
end
$$;
