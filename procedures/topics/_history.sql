-- howdah._history(p_topic_id, p_since, p_upto): the messages of a topic that are still stored and committed, oldest
-- first.
--
-- Returns  as howdah._topic_page: those sent from p_since on (NULL: all), without the expired ones.
-- Role     internal
create or replace function howdah._history(p_topic_id integer, p_since timestamptz, p_upto pg_snapshot default null)
returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint,
    is_text boolean, content_type text, body bytea, headers jsonb, correlation_id text, reply_to text,
    message_type text, conversation_id uuid, client_id text, reliability smallint, nonpersistent boolean
)
language sql volatile
as $$
    select p.*
    from (select coalesce(p_upto, howdah._snapshot()) as upto) s
    cross join lateral howdah._topic_page(howdah._slots_from('3'), p_topic_id, '3', -1, pg_snapshot_xmax(s.upto),
        s.upto, 2147483647) p
    where (p.sent_at < p_since) is not true and (p.expires_at <= howdah.now()) is not true
$$;
