-- howdah._dispose_published(p_destination, …): dispose of a topic message that reached its limit, for one subscription.
--
-- Returns  false, so that a WHERE clause leaves the message out.
-- Role     internal
--
-- The cursor passes the message, or the caller records it as done. It becomes a message of the subscription's own,
-- which the policy then moves, parks or discards like a queue's. A message that only waits for the delay of its last
-- failure is parked, too.
create or replace function howdah._dispose_published(
    p_destination howdah.destinations, p_message_id bigint, p_sent_at timestamptz, p_expires_at timestamptz,
    p_rank smallint, p_is_text boolean, p_content_type text, p_body bytea, p_headers jsonb, p_correlation_id text,
    p_reply_to text, p_message_type text, p_conversation_id uuid, p_nonpersistent boolean, p_reliability smallint,
    p_now timestamptz
) returns boolean
language plpgsql volatile
as $$
declare
    v_copy howdah.msgs := howdah._own_copy(p_destination, p_message_id, p_sent_at, p_expires_at, p_rank, p_is_text,
        p_content_type, p_body, p_headers, p_correlation_id, p_reply_to, p_message_type, p_conversation_id,
        p_reliability);
    v_weight integer := (select s.weight from howdah._standing(p_destination.id, p_message_id, 0::smallint,
        p_conversation_id, howdah._group(p_headers, p_conversation_id), null) s);
begin
    perform howdah._commit_needs(4);
    if not howdah._park_waiting(p_destination, v_copy, p_nonpersistent, v_weight, p_now) then
        perform howdah._apply_limit_policy(p_destination, v_copy, p_nonpersistent, howdah._death_reason(v_weight));
    end if;
    return false;
end
$$;
