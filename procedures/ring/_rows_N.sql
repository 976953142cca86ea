-- for N in 0, 1, 2:
-- howdah._rows_N(p_topic, …): the messages of a topic in reading order, from both tables number N.
--
-- Returns  as howdah._persistent_N.
-- Raises   40001 as howdah._persistent_N.
-- Role     internal
create or replace function howdah._rows_N(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot,
    p_now timestamptz, p_limit bigint
) returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint,
    is_text boolean, content_type text, body bytea, headers jsonb, correlation_id text, reply_to text,
    message_type text, conversation_id uuid, client_id text, reliability smallint, nonpersistent boolean
)
language sql stable
as $$
    select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
        t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, t.reliability, false
    from howdah._persistent_N(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) t
    union all
    select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
        t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, t.reliability, true
    from howdah._nonpersistent_N(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) t
    order by 1, 2 limit p_limit
$$;

-- end for
