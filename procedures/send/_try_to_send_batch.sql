-- howdah._try_to_send_batch(p_destination, p_bodies, …): store many best-effort messages, and lose those that cannot
-- be stored.
--
-- Returns  message ids (bigint[]) as howdah._send_batch; of a lost one, that under which the journal has it.
-- Raises   as howdah._send_batch, except HD018 and HD027.
-- Role     internal
--
-- Messages without room are lost together. After any other error each half is tried by itself, down to the one to
-- blame.
create or replace function howdah._try_to_send_batch(
    p_destination howdah.destinations, p_bodies bytea[], p_is_text boolean, p_content_type text, p_headers jsonb[],
    p_priorities integer[], p_correlation_ids text[], p_message_types text[], p_conversation_ids uuid[],
    p_reply_to text, p_time_to_live interval, p_delay interval, p_reliability text, p_notify boolean,
    p_deduplication_keys text[], p_forward boolean default true
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_half constant integer := cardinality(p_bodies) / 2;
    v_whole boolean;
    v_reason text;
begin
    begin
        return howdah._send_batch(p_destination, p_bodies, p_is_text, p_content_type, p_headers, p_priorities,
            p_correlation_ids, p_message_types, p_conversation_ids, p_reply_to, p_time_to_live, p_delay, p_reliability,
            p_notify, p_deduplication_keys, null, true, p_forward);
    exception when others then
        if not howdah._is_swallowed(sqlstate) then
            raise;
        end if;
        v_whole := v_half = 0 or sqlstate in ('HD018', 'HD027') or sqlstate ^@ '53';
        v_reason := sqlstate || ' ' || sqlerrm;
    end;
    if v_whole then
        return howdah._lose(p_destination, p_bodies, p_is_text, p_content_type, p_headers, p_priorities,
            p_correlation_ids, p_message_types, p_conversation_ids, p_reply_to, v_reason);
    end if;
    return howdah._try_to_send_batch(p_destination, p_bodies[:v_half], p_is_text, p_content_type, p_headers[:v_half],
            p_priorities[:v_half], p_correlation_ids[:v_half], p_message_types[:v_half], p_conversation_ids[:v_half],
            p_reply_to, p_time_to_live, p_delay, p_reliability, p_notify, p_deduplication_keys[:v_half],
            p_forward)
        || howdah._try_to_send_batch(p_destination, p_bodies[v_half + 1:], p_is_text, p_content_type,
            p_headers[v_half + 1:], p_priorities[v_half + 1:], p_correlation_ids[v_half + 1:],
            p_message_types[v_half + 1:], p_conversation_ids[v_half + 1:], p_reply_to, p_time_to_live, p_delay,
            p_reliability, p_notify, p_deduplication_keys[v_half + 1:], p_forward);
end
$$;
