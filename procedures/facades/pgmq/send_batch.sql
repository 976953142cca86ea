-- pgmq.send_batch(queue_name, msgs, headers, delay): send many messages in one statement, all or none.
--
-- Returns  the msg_id of each, in the order of msgs.
-- Raises   P0001 msgs is NULL or empty, or headers are not as many; and as pgmq.send.
-- Role     howdah_producer howdah_admin
--
-- headers has one element a message. delay is a number of seconds, or the time from which the messages are visible.
create or replace function pgmq.send_batch(queue_name text, msgs jsonb[]) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    perform pgmq._validate_batch_params(msgs, null);
    return query select * from pgmq._send_batch(queue_name, msgs, null, null);
end
$$;

create or replace function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[]) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    perform pgmq._validate_batch_params(msgs, headers);
    return query select * from pgmq._send_batch(queue_name, msgs, headers, null);
end
$$;

create or replace function pgmq.send_batch(queue_name text, msgs jsonb[], delay integer) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    perform pgmq._validate_batch_params(msgs, null);
    return query select * from pgmq._send_batch(queue_name, msgs, null, pgmq._visible_from(delay));
end
$$;

create or replace function pgmq.send_batch(queue_name text, msgs jsonb[], delay timestamptz) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    perform pgmq._validate_batch_params(msgs, null);
    return query select * from pgmq._send_batch(queue_name, msgs, null, pgmq._visible_from(delay));
end
$$;

create or replace function pgmq.send_batch(
    queue_name text, msgs jsonb[], headers jsonb[], delay integer
) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    perform pgmq._validate_batch_params(msgs, headers);
    return query select * from pgmq._send_batch(queue_name, msgs, headers, pgmq._visible_from(delay));
end
$$;

create or replace function pgmq.send_batch(
    queue_name text, msgs jsonb[], headers jsonb[], delay timestamptz
) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    perform pgmq._validate_batch_params(msgs, headers);
    return query select * from pgmq._send_batch(queue_name, msgs, headers, pgmq._visible_from(delay));
end
$$;
