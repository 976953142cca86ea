-- for N in 0, 1, 2:
-- howdah._stream_persistent_N(p_name, p_topic_name, p_topic, …): the messages that howdah._persistent_N reads, as a
-- subscription's consumer gets them.
--
-- Returns  setof howdah.message, delivered once and never failed. p_name is the subscription's name; the arguments
--          after p_topic_name are those of howdah._persistent_N.
-- Raises   40001 as howdah._persistent_N.
-- Role     internal
--
-- It becomes part of the statement that calls it, like howdah._persistent_N.
create or replace function howdah._stream_persistent_N(
    p_name text, p_topic_name text, p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot,
    p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns setof howdah.message
language sql stable
as $$
    select r.seq * 1000000 + r.destination_id, p_name, case when r.is_text then convert_from(r.body, 'UTF8') end,
        case when not r.is_text then r.body end, r.content_type, r.headers, 9 - r.rank, r.correlation_id, r.reply_to,
        r.message_type, r.conversation_id, 'persistent'::text, r.sent_at, r.expires_at, 1, false, r.seq, 0,
        p_topic_name, null::text, null::timestamptz, howdah._level_name(r.reliability, false)
    from howdah._persistent_N(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) r
$$;

-- end for
