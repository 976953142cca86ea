-- howdah._unleased(p_row): a leased message as the ready message that it was.
--
-- Returns  howdah.msgs.
-- Role     internal
--
-- In leased, the position is the lease times 2^20 plus a number within the lease, so that the messages of a lease lie
-- together. None of these messages ever moved, so the id gives the position in the queue.
create or replace function howdah._unleased(p_row howdah.leased) returns howdah.msgs
language sql immutable
as $$
    select row(p_row.message_id / 1000000, p_row.message_id, p_row.sent_at, p_row.expires_at, p_row.dead_at,
        p_row.destination_id, p_row.origin_id, p_row.rank, p_row.stage, p_row.is_text, p_row.content_type, p_row.body,
        p_row.headers, p_row.correlation_id, p_row.reply_to, p_row.message_type, p_row.conversation_id,
        p_row.dead_reason, p_row.reliability)::howdah.msgs
$$;
