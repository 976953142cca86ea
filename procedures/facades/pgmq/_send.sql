-- pgmq._send(p_queue, p_message, p_headers, p_vt): store one message; NULL in p_vt: visible at once.
--
-- Returns  its msg_id (bigint).
-- Raises   as pgmq._refuse; HD007 body too large; HD008 sending is paused; HD018 the queue is full; HD027 the engine is
--          full; HD040 the engine is paused, quiesced or stopped.
-- Role     internal
--
-- One statement stores the usual message, as in howdah.send. A queue that is not usual is left to howdah._send.
create or replace function pgmq._send(p_queue text, p_message jsonb, p_headers jsonb, p_vt timestamptz) returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_body bytea := convert_to(coalesce(p_message::text, ''), 'UTF8');
    v_bytes integer := octet_length(v_body);
    v_type text := case when p_message is null then 'application/x-sql-null' else 'application/json' end;
    v_message_id bigint;
    v_destination howdah.destinations;
begin
    if p_vt is null and current_setting('howdah.commit_by_reliability', true) <> '' is not true then
        insert into howdah.msgs (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text,
            content_type, body, headers)
        select d.seq, d.seq * 1000000 + d.id, v_now, v_now + d.default_time_to_live, d.id,
            d.main_rank, 0, true, v_type, case when not howdah._is_large(v_bytes) then v_body end,
            pgmq._stored_headers(p_headers)
        from (
            select c.id, c.main_rank, c.default_time_to_live,
            case when pg_current_xact_id() is not null then nextval(c.positions) end as seq
            from howdah.destinations c
            where c.name = lower(p_queue) and c.dropped_at is null and c.kind = 'queue' and c.usual_send
              and v_bytes <= c.max_message_bytes
              and c.assured
              and (p_headers is null or c.last_value_key is null)
              and howdah._lets_in(c.id, c.room, c.tickets, 1, v_bytes, c.senders, c.waiting, true)
              and (pg_sequence_last_value('pgmq.notifying'::regclass) is null or pgmq._notify(c.name))
        ) d
        returning message_id into v_message_id;
        if v_message_id is not null then
            if howdah._is_large(v_bytes) then
                perform howdah._keep_body(v_message_id, v_body);
            end if;
            return v_message_id / 1000000;
        end if;
    end if;
    v_destination := pgmq._refuse(p_queue, 'send');
    if p_vt is not null then
        return pgmq._send_delayed(v_destination, array[p_message], array[p_headers], p_vt);
    end if;
    return howdah._send(lower(p_queue), v_body, true, v_type, pgmq._stored_headers(p_headers), null, null, null,
        null, null, null, null, null, true, null) / 1000000;
end
$$;
