-- howdah._try_to_send(p_destination, p_body, …): store a best-effort message, or lose it alone.
--
-- Returns  the message's id (bigint); if it could not be stored, the one under which the journal has its loss.
-- Raises   as howdah._send_to, except HD018 and HD027.
-- Role     internal
--
-- Storing has a savepoint of its own, so the rest of the transaction stands whatever becomes of this message.
create or replace function howdah._try_to_send(
    p_destination howdah.destinations, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb,
    p_priority integer, p_correlation_id text, p_reply_to text, p_message_type text, p_conversation_id uuid,
    p_time_to_live interval, p_delay interval, p_reliability text, p_notify boolean, p_deduplication_key text,
    p_user text
) returns bigint
language plpgsql volatile
as $$
declare
    v_reason text;
begin
    begin
        return howdah._send_to(p_destination, p_body, p_is_text, p_content_type, p_headers, p_priority,
            p_correlation_id, p_reply_to, p_message_type, p_conversation_id, p_time_to_live, p_delay, p_reliability,
            p_notify, p_deduplication_key, p_user, true);
    exception when others then
        if not howdah._is_swallowed(sqlstate) then
            raise;
        end if;
        v_reason := sqlstate || ' ' || sqlerrm;
    end;
    return (howdah._lose(p_destination, array[p_body], p_is_text, p_content_type, array[p_headers], array[p_priority],
        array[p_correlation_id], array[p_message_type], array[p_conversation_id], p_reply_to, v_reason))[1];
end
$$;
