-- howdah._tell(p_destination, p_message, p_outcome, p_reason): copies, replies and reports about a message that reached its limit.
--
-- Role     internal
--
-- A log queue that is missing, full, paused or the engine's, and a reply_to that is no queue, are passed over: they must not keep the message from leaving.
create or replace function howdah._tell(p_destination howdah.destinations, p_message howdah.msgs, p_outcome text, p_reason text) returns void
language plpgsql volatile
as $$
declare
    v_log howdah.destinations;
    v_copy howdah.msgs := p_message;
begin
    if p_destination.log_table then
        insert into howdah.poison_log (logged_at, outcome, seq, message_id, sent_at, expires_at, dead_at, destination_id, origin_id, rank, stage,
            is_text, content_type, body, headers, correlation_id, reply_to, message_type, conversation_id, dead_reason)
        select howdah.now(), p_outcome, m.seq, m.message_id, m.sent_at, m.expires_at, howdah.now(), m.destination_id, m.origin_id, m.rank, m.stage,
            m.is_text, m.content_type, coalesce(m.body, howdah._body(m.message_id)), m.headers, m.correlation_id, m.reply_to, m.message_type, m.conversation_id, p_reason
        from (select (p_message).*) m;
    end if;
    if p_destination.log_queue is not null and (p_message.headers ? 'logged_queue') is not true then
        select d.* into v_log from howdah.destinations d
        where d.name = p_destination.log_queue and d.dropped_at is null and d.kind = 'queue' and not d.is_system and not d.sending_paused;
        if v_log.id is not null and howdah._has_room(v_log, 1, howdah._body_bytes(p_message.body, p_message.message_id)) then
            v_copy.destination_id := v_log.id;
            perform pg_current_xact_id();  -- before a position is drawn: howdah._mark
            v_copy.seq := nextval(v_log.positions);
            v_copy.message_id := v_copy.seq * 1000000 + v_log.id;
            v_copy.stage := 0;
            v_copy.expires_at := null;
            v_copy.reply_to := null;
            v_copy.headers := coalesce(v_copy.headers, '{}') || jsonb_build_object('logged_message_id', p_message.message_id,
                'logged_queue', p_destination.name, 'logged_outcome', p_outcome, 'logged_reason', p_reason);
            v_copy.body := coalesce(v_copy.body, howdah._body(p_message.message_id));
            if v_log.persistent then
                v_copy := howdah._apart(v_copy);
            end if;
            perform howdah._put(v_copy, not v_log.persistent, false);
            if v_log.journal_level = 'full' then
                perform howdah._journal_one_sent(v_log, v_copy, coalesce(v_copy.body, howdah._body(v_copy.message_id)), not v_log.persistent, false);
            end if;
        end if;
    end if;
    if p_destination.error_reply and p_outcome <> 'ended' then
        perform howdah._send_error(p_message.reply_to, p_destination.id, 500, p_reason,
            coalesce(p_message.correlation_id, p_message.message_id::text), p_message.conversation_id);
    end if;
    if p_destination.notify_admin then
        perform howdah._advise('MESSAGE_DEAD', p_destination.name,
            jsonb_build_object('message_id', p_message.message_id, 'outcome', p_outcome, 'reason', p_reason));
    end if;
    if p_destination.notify_events then
        perform howdah._announce('MESSAGE_DEAD', p_destination.name,
            jsonb_build_object('message_id', p_message.message_id, 'outcome', p_outcome));
    end if;
end
$$;

-- howdah._announce(p_event, p_queue, p_facts): tell whoever listens to the channel howdah_events of an event, once the transaction commits.
--
-- Role     internal
--
-- Any role can listen, so p_facts name no text of an error, which may quote the message; and they stay below the 8,000 bytes of a payload.
create or replace function howdah._announce(p_event text, p_queue text, p_facts jsonb) returns void
language sql volatile
as $$ select pg_notify('howdah_events', (jsonb_build_object('event', p_event, 'queue', p_queue, 'at', howdah._utc(howdah.now())) || p_facts)::text) $$;

-- howdah._advise(p_event, p_queue, p_facts): report an event to administrators, by the queue _SYSTEM.Advisory.
--
-- Role     internal
--
-- Nothing about the advisory queue itself, and nothing if there is no such queue. The message expires after the queue's seven days.
create or replace function howdah._advise(p_event text, p_queue text, p_facts jsonb) returns void
language plpgsql volatile
as $$
declare
    v_advisory howdah.destinations;
    v_message howdah.msgs;
begin
    select d.* into v_advisory from howdah.destinations d where d.name = '_SYSTEM.Advisory' and d.dropped_at is null;
    if v_advisory.id is null or p_queue = v_advisory.name then
        return;
    end if;
    v_message := howdah._new_message(v_advisory, convert_to(
        (jsonb_build_object('event', p_event, 'queue', p_queue, 'at', howdah._utc(howdah.now())) || p_facts)::text, 'UTF8'), 'application/json', p_event);
    perform howdah._put(v_message, not v_advisory.persistent, false);
    if v_advisory.journal_level = 'full' then
        perform howdah._journal_one_sent(v_advisory, v_message, v_message.body, not v_advisory.persistent, false);
    end if;
end
$$;

-- howdah._send_error(p_reply_to, p_from_id, p_error, p_text, p_correlation_id, p_conversation_id): tell the other side of an error.
--
-- Role     internal
--
-- Nothing if p_reply_to is no queue, one of the engine's, paused or full, or the failing queue itself, which would go on answering itself.
create or replace function howdah._send_error(
    p_reply_to text, p_from_id integer, p_error integer, p_text text, p_correlation_id text, p_conversation_id uuid
) returns void
language plpgsql volatile
as $$
declare
    v_target howdah.destinations;
    v_message howdah.msgs;
begin
    select d.* into v_target from howdah.destinations d
    where d.name = p_reply_to and d.dropped_at is null and d.kind = 'queue' and not d.is_system and not d.sending_paused
      and d.id is distinct from p_from_id and (not d.name ^@ '_TEMP.' or howdah._hold_temporary(d));
    if v_target.id is null or not howdah._has_room(v_target, 1, 1000) then
        return;
    end if;
    v_message := howdah._new_message(v_target, convert_to(jsonb_build_object('code', p_error, 'text', p_text)::text, 'UTF8'),
        'application/json', 'Error');
    v_message.correlation_id := p_correlation_id;
    v_message.conversation_id := p_conversation_id;
    perform howdah._put(v_message, not v_target.persistent, false);
    if v_target.journal_level = 'full' then
        perform howdah._journal_one_sent(v_target, v_message, v_message.body, not v_target.persistent, false);
    end if;
end
$$;

-- howdah._new_message(p_destination, p_body, p_content_type, p_message_type): a message of the engine's own, not yet stored.
--
-- Returns  howdah.msgs.
-- Role     internal
create or replace function howdah._new_message(p_destination howdah.destinations, p_body bytea, p_content_type text, p_message_type text)
returns howdah.msgs
language plpgsql volatile
as $$
declare
    v_message howdah.msgs;
begin
    perform pg_current_xact_id();  -- before a position is drawn: howdah._mark
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
