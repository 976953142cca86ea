-- howdah._send(p_queue, p_body, …): send any message that howdah.send cannot store in its one statement, or raise the
-- error.
--
-- Returns  the message's id (bigint); the schedule's id if ActiveMQ's headers schedule the message.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027, HD039 as howdah.send.
-- Role     internal
create or replace function howdah._send(
    p_queue text, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb, p_priority integer,
    p_correlation_id text, p_reply_to text, p_message_type text, p_conversation_id uuid, p_time_to_live interval,
    p_delay interval, p_reliability text, p_notify boolean, p_deduplication_key text
) returns bigint
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
begin
    if howdah._is_composite(p_queue) then
        return howdah._send_each(p_queue, p_body, p_is_text, p_content_type, p_headers, p_priority, p_correlation_id,
            p_reply_to, p_message_type, p_conversation_id, p_time_to_live, p_delay, p_reliability, p_notify,
            p_deduplication_key);
    end if;
    if p_headers ?| array['AMQ_SCHEDULED_DELAY', 'AMQ_SCHEDULED_PERIOD', 'AMQ_SCHEDULED_CRON']
       and not p_headers ? 'scheduledJobId' then
        return howdah._schedule_by_headers(p_queue, p_body, p_is_text, p_content_type, p_headers, p_priority,
            p_correlation_id, p_reply_to, p_message_type, p_conversation_id, p_time_to_live, p_reliability);
    end if;
    -- As howdah._destination_or_new, which would copy the row once more.
    if not exists (select from howdah.destinations d where d.name = p_queue and d.dropped_at is null) then
        perform howdah._autocreate(p_queue, null);
    end if;
    v_destination := howdah._destination(p_queue, 'send');
    return howdah._send_to(v_destination, p_body, p_is_text, p_content_type,
        case when v_destination.stamp_user then howdah._stamped(p_headers, howdah._caller()) else p_headers end,
        p_priority, p_correlation_id, p_reply_to, p_message_type, p_conversation_id, p_time_to_live, p_delay,
        p_reliability, p_notify,
        p_deduplication_key);
end
$$;
