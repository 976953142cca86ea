-- howdah._send_to(v_destination, p_body, …): store one message of any sort in a destination that the caller may send
-- to.
--
-- Returns  the message's id (bigint).
-- Raises   HD005, HD006, HD007, HD008, HD017, HD018, HD025, HD027, HD039 as howdah.send.
-- Role     internal
--
-- p_user: as in howdah._publish. p_headers already holds the stamp that v_destination's own stamp_user asks for.
-- p_caught: howdah._try_to_send catches the errors of storing, for the message is best effort.
create or replace function howdah._send_to(
    v_destination howdah.destinations, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb,
    p_priority integer, p_correlation_id text, p_reply_to text, p_message_type text, p_conversation_id uuid,
    p_time_to_live interval, p_delay interval, p_reliability text, p_notify boolean, p_deduplication_key text,
    p_user text default null, p_caught boolean default false
) returns bigint
language plpgsql volatile
as $$
declare
    v_message howdah.msgs;
    v_first bigint;
    v_level smallint := howdah._level_for(v_destination, p_reliability);
    v_nonpersistent boolean := v_level <= 2;
begin
    if v_level = 0 and not p_caught then
        return howdah._try_to_send(v_destination, p_body, p_is_text, p_content_type, p_headers, p_priority,
            p_correlation_id, p_reply_to, p_message_type, p_conversation_id, p_time_to_live, p_delay, p_reliability,
            p_notify, p_deduplication_key, p_user);
    end if;
    perform howdah._check_message(v_destination, octet_length(p_body), p_headers, p_priority, p_content_type,
        p_time_to_live, p_delay);
    if v_destination.contract is not null then
        perform howdah._check_contract(v_destination, array[p_body], p_is_text);
    end if;
    if p_deduplication_key is not null then
        perform pg_current_xact_id();
        v_message.seq := nextval(v_destination.positions);
        v_message.message_id := v_message.seq * 1000000 + v_destination.id;
        v_first := (howdah._deduplicate(v_destination, array[p_deduplication_key], array[v_message.message_id]))[1];
        if v_first <> v_message.message_id then
            return v_first;
        end if;
    end if;
    if v_destination.last_value_key is not null then
        perform pg_current_xact_id();
        v_message.seq := coalesce(v_message.seq, nextval(v_destination.positions));
        perform howdah._replace_values(v_destination, array[p_headers ->> v_destination.last_value_key],
            array[v_message.seq * 1000000 + v_destination.id]);
    end if;
    if current_setting('howdah.commit_by_reliability', true) <> '' then
        perform howdah._commit_needs(v_level);
    end if;
    perform howdah._check_room(v_destination, 1, octet_length(p_body), array[p_conversation_id],
        9 - coalesce(p_priority, v_destination.default_priority), v_level);
    if v_destination.kind = 'topic' then
        return (howdah._publish(v_destination, array[p_body], p_is_text, p_content_type, array[p_headers],
            array[p_priority], array[p_correlation_id], array[p_message_type], array[p_conversation_id], p_reply_to,
            p_time_to_live, p_delay, v_level, p_notify,
            case when p_deduplication_key is not null then array[v_message.seq] end, p_user))[1];
    end if;
    perform pg_current_xact_id();  -- before a position is drawn: howdah._set_mark
    v_message.seq := coalesce(v_message.seq, nextval(v_destination.positions));
    v_message.message_id := v_message.seq * 1000000 + v_destination.id;
    v_message.destination_id := v_destination.id;
    v_message.rank := 9 - coalesce(p_priority, v_destination.default_priority);
    v_message.stage := 0;
    v_message.sent_at := howdah.now();
    v_message.expires_at := v_message.sent_at
        + coalesce(howdah._span(p_time_to_live), v_destination.default_time_to_live_ms * interval '1 millisecond');
    v_message.is_text := p_is_text;
    v_message.content_type := p_content_type;
    v_message.body := p_body;
    v_message.headers := p_headers;
    v_message.correlation_id := p_correlation_id;
    v_message.reply_to := p_reply_to;
    v_message.message_type := p_message_type;
    v_message.conversation_id := p_conversation_id;
    v_message.reliability := howdah._stored_level(v_level);
    if not v_nonpersistent then
        v_message := howdah._detach_body(v_message);
    end if;
    if p_delay > interval '0' then
        perform howdah._park(v_message, v_nonpersistent, v_message.sent_at + howdah._span(p_delay), 'delay');
    else
        perform howdah._put(v_message, v_nonpersistent, p_notify);
    end if;
    if v_destination.journal_level = 'full' then
        perform howdah._journal_one_sent(v_destination, v_message, p_body, v_nonpersistent, p_delay > interval '0');
    end if;
    if v_destination.discard_with_sender and p_user is null then
        perform howdah._note_sender(v_destination, array[v_message.message_id], array[p_priority], v_level);
    end if;
    return v_message.message_id;
end
$$;
