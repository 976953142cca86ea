-- pgmq.send_topic(routing_key, msg, headers, delay): send a message to each queue that is bound to a pattern which the
-- routing key matches.
--
-- Returns  the number of queues (integer).
-- Raises   P0001 a bad routing key, msg is NULL, or delay is negative; and as pgmq.send.
-- Role     howdah_producer howdah_admin
create or replace function pgmq.send_topic(routing_key text, msg jsonb) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return pgmq._send_topic(routing_key, msg, null, 0); end $$;

create or replace function pgmq.send_topic(routing_key text, msg jsonb, delay integer) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return pgmq._send_topic(routing_key, msg, null, delay); end $$;

create or replace function pgmq.send_topic(routing_key text, msg jsonb, headers jsonb, delay integer) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return pgmq._send_topic(routing_key, msg, headers, delay); end $$;
