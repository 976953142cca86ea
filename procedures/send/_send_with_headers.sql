-- howdah._send_with_headers(p_queue, p_body, …): store an assured message with headers, a priority or a time to live in
-- a queue, if nothing else about it is unusual.
--
-- Returns  the message's id (bigint); NULL if nothing was stored. Then queue, caller or headers are not usual, or the
--          lane of the priority is not open. howdah._send then handles the call, and raises the errors.
-- Role     internal
--
-- p_recorded: store it only in a queue whose journal records sends, and record it. By default the function finds out,
-- after it has looked for another queue. howdah.send passes true for a message without any of the three.
--
-- The lane is looked at before a ticket is drawn. howdah._send would draw another one, and both would count until the
-- transaction ends.
--
-- ActiveMQ's headers of schedules, and headers of a queue that keeps last values, are for howdah._send.
create or replace function howdah._send_with_headers(
    p_queue text, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb, p_priority integer,
    p_time_to_live interval, p_correlation_id text, p_reply_to text, p_message_type text, p_notify boolean,
    p_recorded boolean default false
) returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_bytes integer := octet_length(p_body);
    v_life interval;
    v_id integer;
    v_message_id bigint;
begin
    if p_headers is not null and (jsonb_typeof(p_headers) <> 'object'
        or p_headers ?| array['AMQ_SCHEDULED_DELAY', 'AMQ_SCHEDULED_PERIOD', 'AMQ_SCHEDULED_CRON'])
       or p_priority not between 0 and 9 then
        return null;
    elsif p_time_to_live is not null then
        v_life := case when p_time_to_live > interval '0' and p_time_to_live <= interval '100 years'
            then howdah._span(p_time_to_live) end;
        if (v_life > interval '0') is not true then
            return null;
        end if;
    end if;
    if p_priority is not null then
        select c.id into v_id from howdah.destinations c
        where c.name = p_queue and c.dropped_at is null
          and (9 - p_priority = c.main_rank
               or pg_sequence_last_value(c.special) is not null
                  and exists (select from howdah.lanes l
                      where l.destination_id = c.id and l.rank = 9 - p_priority and l.place = 2
                        and l.head is not null));
        if v_id is null then
            return null;
        end if;
    end if;
    insert into howdah.msgs (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text, content_type,
        body, headers, correlation_id, reply_to, message_type)
    select d.seq, d.seq * 1000000 + d.id, v_now, v_now + coalesce(v_life, d.default_time_to_live), d.id, d.rank, 0,
        p_is_text, p_content_type, case when not howdah._is_large(v_bytes) then p_body end, p_headers,
        p_correlation_id, p_reply_to, p_message_type
    from (
        select c.id, coalesce(9 - p_priority, c.main_rank) as rank, c.default_time_to_live,
        case when pg_current_xact_id() is not null then nextval(c.positions) end as seq
        from howdah.destinations c
        where c.name = p_queue and c.dropped_at is null and c.usual_batch and c.usual_send <> p_recorded
          and c.assured and v_bytes <= c.max_message_bytes
          and (p_headers is null or c.last_value_key is null)
          and c.id = coalesce(v_id, c.id)
          and howdah._lets_in(c.id, c.room, c.tickets, 1, v_bytes, c.senders, c.waiting, p_notify)
    ) d
    returning message_id into v_message_id;
    if v_message_id is null and not p_recorded and exists (select from howdah.destinations d
        where d.name = p_queue and d.dropped_at is null and d.usual_batch and not d.usual_send) then
        return howdah._send_with_headers(p_queue, p_body, p_is_text, p_content_type, p_headers, p_priority,
            p_time_to_live, p_correlation_id, p_reply_to, p_message_type, p_notify, true);
    elsif p_recorded and v_message_id is not null then
        -- As it was stored: the queue may be altered or dropped meanwhile.
        perform howdah._journal_one_sent(d, m, p_body, false, false)
        from howdah.msgs m
        join howdah.destinations d on d.id = m.destination_id
        where m.destination_id = v_message_id % 1000000 and m.rank = any ('{0,1,2,3,4,5,6,7,8,9}')
          and m.seq = v_message_id / 1000000;
    end if;
    if v_message_id is not null and howdah._is_large(v_bytes) then
        perform howdah._keep_body(v_message_id, p_body);
    end if;
    if v_message_id is not null and current_setting('howdah.commit_by_reliability', true) <> '' then
        return howdah._commit_needs(4, v_message_id);
    end if;
    return v_message_id;
end
$$;
