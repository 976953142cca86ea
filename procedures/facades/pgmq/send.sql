-- pgmq.send(queue_name, msg, headers, delay): send one message.
--
-- Returns  its msg_id.
-- Raises   42P01 no such queue; 23502 delay is NULL; HD007 body too large; HD008 sending is paused; HD010 not allowed;
--          HD018 the queue is full; HD027 the engine is full; HD040 the engine is paused, quiesced or stopped.
-- Role     howdah_producer howdah_admin
--
-- delay is a number of seconds, or the time from which the message is visible.
--
-- One statement stores the usual message, as in howdah.send, and twice, because a call would cost as much as it does.
-- Whatever is not usual goes to pgmq._send. A condition without a column of c would put a node above the scan, whose
-- rows then had all columns: a tenth of the call.
create or replace function pgmq.send(queue_name text, msg jsonb) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_body bytea := convert_to(msg::text, 'UTF8');
    v_seq bigint;
begin
    if v_body is not null and not howdah._is_large(octet_length(v_body)) then
        insert into howdah.msgs (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text,
            content_type, body, headers)
        select d.seq, d.seq * 1000000 + d.id, d.now, d.now + d.default_time_to_live, d.id,
            d.main_rank, 0, true, 'application/json', v_body, null
        from (
            select c.id, c.main_rank, c.default_time_to_live, howdah.now() as now,
            case when pg_current_xact_id() is not null then nextval(c.positions) end as seq
            from howdah.destinations c
            where c.name = lower(queue_name) and c.dropped_at is null and c.kind = 'queue' and c.usual_send
              and octet_length(v_body) <= c.max_message_bytes
              and c.assured
              and howdah._lets_in(c.id, c.room, c.tickets, 1, octet_length(v_body), c.senders, c.waiting, true)
              and (pg_sequence_last_value('pgmq.notifying'::regclass) is null or pgmq._notify(c.name))
              and (current_setting('howdah.commit_by_reliability', c.id > 0) <> '') is not true
        ) d
        returning seq into v_seq;
    end if;
    return next coalesce(v_seq, pgmq._send(queue_name, msg, null, null));
end
$$;

create or replace function pgmq.send(queue_name text, msg jsonb, headers jsonb) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_body bytea := convert_to(msg::text, 'UTF8');
    v_seq bigint;
begin
    if v_body is not null and not howdah._is_large(octet_length(v_body)) then
        insert into howdah.msgs (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text,
            content_type, body, headers)
        select d.seq, d.seq * 1000000 + d.id, d.now, d.now + d.default_time_to_live, d.id,
            d.main_rank, 0, true, 'application/json', v_body,
            pgmq._stored_headers(send.headers)
        from (
            select c.id, c.main_rank, c.default_time_to_live, howdah.now() as now,
            case when pg_current_xact_id() is not null then nextval(c.positions) end as seq
            from howdah.destinations c
            where c.name = lower(queue_name) and c.dropped_at is null and c.kind = 'queue' and c.usual_send
              and octet_length(v_body) <= c.max_message_bytes
              and c.assured and c.last_value_key is null
              and howdah._lets_in(c.id, c.room, c.tickets, 1, octet_length(v_body), c.senders, c.waiting, true)
              and (pg_sequence_last_value('pgmq.notifying'::regclass) is null or pgmq._notify(c.name))
              and (current_setting('howdah.commit_by_reliability', c.id > 0) <> '') is not true
        ) d
        returning seq into v_seq;
    end if;
    return next coalesce(v_seq, pgmq._send(queue_name, msg, send.headers, null));
end
$$;

create or replace function pgmq.send(queue_name text, msg jsonb, delay integer) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return next pgmq._send_later(queue_name, msg, null, delay); end $$;

create or replace function pgmq.send(queue_name text, msg jsonb, delay timestamptz) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._send_delayed(pgmq._refuse(queue_name, 'send'), array[msg], null, delay);
end
$$;

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
