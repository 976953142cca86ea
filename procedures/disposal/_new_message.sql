-- howdah._new_message(p_destination, p_body, p_content_type, p_message_type): a message that the engine itself sends,
-- not yet stored.
--
-- Returns  howdah.msgs.
-- Role     internal
create or replace function howdah._new_message(
    p_destination howdah.destinations, p_body bytea, p_content_type text, p_message_type text
)
returns howdah.msgs
language plpgsql volatile
as $$
declare
    v_message howdah.msgs;
begin
    perform pg_current_xact_id();  -- before a position is drawn: howdah._set_mark
    v_message.seq := nextval(p_destination.positions);
    v_message.message_id := v_message.seq * 1000000 + p_destination.id;
    v_message.destination_id := p_destination.id;
    v_message.rank := 9 - p_destination.default_priority;
    v_message.stage := 0;
    v_message.sent_at := howdah.now();
    v_message.expires_at := v_message.sent_at + p_destination.default_time_to_live_ms * interval '1 millisecond';
    v_message.is_text := true;
    v_message.content_type := p_content_type;
    v_message.body := p_body;
    v_message.message_type := p_message_type;
    return v_message;
end
$$;
