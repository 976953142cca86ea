-- howdah._report_disposal(p_destination, p_message, p_outcome, p_reason): send copies, replies and reports about a
-- message that reached its limit.
--
-- Role     internal
--
-- A log queue that is missing, full, paused or the engine's is skipped, and so is a reply_to that is no queue. They
-- must not keep the message from leaving.
create or replace function howdah._report_disposal(
    p_destination howdah.destinations, p_message howdah.msgs, p_outcome text, p_reason text
) returns void
language plpgsql volatile
as $$
declare
    v_log howdah.destinations;
    v_copy howdah.msgs := p_message;
begin
    if p_destination.log_table then
        insert into howdah.poison_log (logged_at, outcome, seq, message_id, sent_at, expires_at, dead_at,
            destination_id, origin_id, rank, stage, is_text, content_type, body, headers, correlation_id, reply_to,
            message_type, conversation_id, dead_reason, reliability)
        select howdah.now(), p_outcome, m.seq, m.message_id, m.sent_at, m.expires_at, howdah.now(), m.destination_id,
            m.origin_id, m.rank, m.stage, m.is_text, m.content_type, coalesce(m.body, howdah._body(m.message_id)),
            m.headers, m.correlation_id, m.reply_to, m.message_type, m.conversation_id, p_reason,
            m.reliability
        from (select (p_message).*) m;
    end if;
    if p_destination.log_queue is not null and (p_message.headers ? 'logged_queue') is not true then
        select d.* into v_log from howdah.destinations d
        where d.name = p_destination.log_queue and d.dropped_at is null and d.kind = 'queue' and not d.is_system
          and not d.own_sending_paused;
        if v_log.id is not null and howdah._has_room(v_log, 1,
            howdah._body_bytes(p_message.body, p_message.message_id)) then
            v_copy.destination_id := v_log.id;
            perform pg_current_xact_id();  -- before a position is drawn: howdah._set_mark
            v_copy.seq := nextval(v_log.positions);
            v_copy.message_id := v_copy.seq * 1000000 + v_log.id;
            v_copy.stage := 0;
            v_copy.expires_at := null;
            v_copy.reply_to := null;
            v_copy.reliability := null;
            v_copy.headers := coalesce(v_copy.headers, '{}')
                || jsonb_build_object('logged_message_id', p_message.message_id,
                'logged_queue', p_destination.name, 'logged_outcome', p_outcome, 'logged_reason', p_reason);
            v_copy.body := coalesce(v_copy.body, howdah._body(p_message.message_id));
            if v_log.persistent then
                v_copy := howdah._detach_body(v_copy);
            end if;
            perform howdah._put(v_copy, not v_log.persistent, false);
            if v_log.journal_level = 'full' then
                perform howdah._journal_one_sent(v_log, v_copy, coalesce(v_copy.body, howdah._body(v_copy.message_id)),
                    not v_log.persistent, false);
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
    else
        perform howdah._log_event('MESSAGE_DEAD', p_destination.name,
            jsonb_build_object('message_id', p_message.message_id, 'outcome', p_outcome, 'reason', p_reason));
    end if;
    if p_destination.notify_events then
        perform howdah._announce('MESSAGE_DEAD', p_destination.name,
            jsonb_build_object('message_id', p_message.message_id, 'outcome', p_outcome));
    end if;
end
$$;
