-- pgmq.send_batch_topic(routing_key, msgs, headers, delay): send many messages to each queue that is bound to a pattern
-- which the routing key matches.
--
-- Returns  one row a message and queue: queue_name and msg_id.
-- Raises   P0001 a bad routing key, msgs is NULL or empty, or headers are not as many; and as pgmq.send.
-- Role     howdah_producer howdah_admin
create or replace function pgmq.send_batch_topic(
    routing_key text, msgs jsonb[]
) returns table (queue_name text, msg_id bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._send_batch_topic(routing_key, msgs, null, null);
end
$$;

create or replace function pgmq.send_batch_topic(
    routing_key text, msgs jsonb[], headers jsonb[]
) returns table (queue_name text, msg_id bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._send_batch_topic(routing_key, msgs, headers, null);
end
$$;

create or replace function pgmq.send_batch_topic(
    routing_key text, msgs jsonb[], delay integer
) returns table (queue_name text, msg_id bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._send_batch_topic(routing_key, msgs, null, pgmq._visible_from(delay));
end
$$;

create or replace function pgmq.send_batch_topic(
    routing_key text, msgs jsonb[], delay timestamptz
) returns table (queue_name text, msg_id bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._send_batch_topic(routing_key, msgs, null, pgmq._visible_from(delay));
end
$$;

create or replace function pgmq.send_batch_topic(
    routing_key text, msgs jsonb[], headers jsonb[], delay integer
) returns table (queue_name text, msg_id bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._send_batch_topic(routing_key, msgs, headers, pgmq._visible_from(delay));
end
$$;

create or replace function pgmq.send_batch_topic(
    routing_key text, msgs jsonb[], headers jsonb[], delay timestamptz
) returns table (queue_name text, msg_id bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._send_batch_topic(routing_key, msgs, headers, pgmq._visible_from(delay));
end
$$;
