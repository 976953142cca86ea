-- for STORE in msgs_nonpersistent, parked, claimed:
-- howdah._as_ready(p_row): a non-persistent, parked or claimed message as a row of msgs.
--
-- Returns  howdah.msgs.
-- Role     internal
create or replace function howdah._as_ready(p_row howdah.STORE) returns howdah.msgs
language sql immutable
as $$
    select row(p_row.seq, p_row.message_id, p_row.sent_at, p_row.expires_at, p_row.dead_at, p_row.destination_id,
        p_row.origin_id, p_row.rank, p_row.stage, p_row.is_text, p_row.content_type, p_row.body, p_row.headers,
        p_row.correlation_id, p_row.reply_to, p_row.message_type, p_row.conversation_id, p_row.dead_reason,
        p_row.reliability)::howdah.msgs
$$;

-- end for
