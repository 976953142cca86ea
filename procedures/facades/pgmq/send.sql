-- pgmq.send(queue_name, msg, headers, delay): send one message.
--
-- Returns  its msg_id.
-- Raises   42P01 no such queue; 23502 delay is NULL; HD005 headers are no object in a queue that is not usual; HD007 body
--          too large; HD008 sending is paused; HD010 not allowed; HD018 the queue is full; HD027 the engine is full;
--          HD040 the engine is paused, quiesced or stopped.
-- Role     howdah_producer howdah_admin
--
-- delay is a number of seconds, or the time from which the message is visible.
create or replace function pgmq.send(queue_name text, msg jsonb) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return next pgmq._send(queue_name, msg, null, null); end $$;

create or replace function pgmq.send(queue_name text, msg jsonb, headers jsonb) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return next pgmq._send(queue_name, msg, headers, null); end $$;

create or replace function pgmq.send(queue_name text, msg jsonb, delay integer) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return next pgmq._send_later(queue_name, msg, null, delay); end $$;

create or replace function pgmq.send(queue_name text, msg jsonb, delay timestamptz) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return query select * from pgmq._send_delayed(pgmq._refuse(queue_name, 'send'), array[msg], null, delay); end $$;

create or replace function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay integer) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return next pgmq._send_later(queue_name, msg, headers, delay); end $$;

create or replace function pgmq.send(
    queue_name text, msg jsonb, headers jsonb, delay timestamptz
) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query
    select * from pgmq._send_delayed(pgmq._refuse(queue_name, 'send'), array[msg], array[headers], delay);
end
$$;
