-- howdah._published_rows(p_topic, p_seqs, …): the rows to store for a batch of a topic's messages.
--
-- Returns  the columns of topic_msgs_0 except xid, in the order in which howdah._store_published names them.
-- Role     internal
create or replace function howdah._published_rows(
    p_topic howdah.destinations, p_seqs bigint[], p_now timestamptz, p_expires_at timestamptz, p_is_text boolean,
    p_content_type text, p_bodies bytea[], p_headers jsonb[], p_priorities integer[], p_correlation_ids text[],
    p_reply_to text, p_message_types text[], p_conversation_ids uuid[], p_reliability smallint
) returns table (
    seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint, is_text boolean,
    content_type text, body bytea, headers jsonb, correlation_id text, reply_to text, message_type text,
    conversation_id uuid, client_id text, reliability smallint
)
language sql stable
as $$
    select b.seq, p_now, p_expires_at, p_topic.id, (9 - coalesce(b.priority, p_topic.default_priority))::smallint,
        p_is_text, p_content_type, b.body, b.headers, b.correlation_id, p_reply_to, b.message_type, b.conversation_id,
        nullif(current_setting('howdah.client_id', true), ''), p_reliability
    from unnest(p_seqs, p_bodies, p_headers, p_priorities, p_correlation_ids, p_message_types, p_conversation_ids)
        b(seq, body, headers, priority, correlation_id, message_type, conversation_id)
$$;
