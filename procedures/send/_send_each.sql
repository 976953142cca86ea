-- howdah._send_each(p_queue, p_body, …): store one message in each destination of a composite name.
--
-- Returns  the id (bigint) of the message in the first destination.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027, HD039 as howdah.send, and then no
--          destination gets any.
-- Role     internal
create or replace function howdah._send_each(
    p_queue text, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb, p_priority integer,
    p_correlation_id text, p_reply_to text, p_message_type text, p_conversation_id uuid, p_time_to_live interval,
    p_delay interval, p_reliability text, p_notify boolean, p_deduplication_key text
) returns bigint
language plpgsql volatile
as $$
declare
    v_member howdah.destinations;
    v_id bigint;
    v_first bigint;
begin
    foreach v_member in array howdah._composite_members(p_queue) loop
        v_id := howdah._send(v_member.name, p_body, p_is_text, p_content_type, p_headers, p_priority, p_correlation_id,
            p_reply_to, p_message_type, p_conversation_id, p_time_to_live, p_delay, p_reliability, p_notify,
            p_deduplication_key);
        v_first := coalesce(v_first, v_id);
    end loop;
    return v_first;
end
$$;
