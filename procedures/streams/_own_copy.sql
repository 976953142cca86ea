-- howdah._own_copy(p_destination, …): a topic message as one of a subscription's own messages.
--
-- Returns  howdah.msgs; the id stays, and the position is the subscription's.
-- Role     internal
create or replace function howdah._own_copy(
    p_destination howdah.destinations, p_message_id bigint, p_sent_at timestamptz, p_expires_at timestamptz,
    p_rank smallint, p_is_text boolean, p_content_type text, p_body bytea, p_headers jsonb, p_correlation_id text,
    p_reply_to text, p_message_type text, p_conversation_id uuid, p_reliability smallint
) returns howdah.msgs
language plpgsql volatile
as $$
declare
    v_message howdah.msgs;
begin
    v_message.seq := nextval(p_destination.positions);
    v_message.message_id := p_message_id;
    v_message.destination_id := p_destination.id;
    v_message.rank := p_rank;
    v_message.stage := 0;
    v_message.sent_at := p_sent_at;
    v_message.expires_at := p_expires_at;
    v_message.is_text := p_is_text;
    v_message.content_type := p_content_type;
    v_message.body := p_body;
    v_message.headers := p_headers;
    v_message.correlation_id := p_correlation_id;
    v_message.reply_to := p_reply_to;
    v_message.message_type := p_message_type;
    v_message.conversation_id := p_conversation_id;
    v_message.reliability := p_reliability;
    return v_message;
end
$$;
