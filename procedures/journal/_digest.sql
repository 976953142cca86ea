-- howdah._digest(p_secret, p_body, p_headers, p_is_text, p_content_type, p_correlation_id, p_reply_to, p_message_type,
-- p_conversation_id): what tells a message's content from any other.
--
-- Returns  16 bytes (bytea): the first half of a SHA-256.
-- Role     internal
--
-- The three headers that a dead letter queue of ActiveMQ's adds are left out: a message has the same digest wherever it
-- lies. The secret is that of the engine: without it whoever reads digests could find a short body by trying. The
-- length at the end says where the body begins. The view of audits has the same expression, for a view calls functions
-- in its reader's name.
create or replace function howdah._digest(
    p_secret uuid, p_body bytea, p_headers jsonb, p_is_text boolean, p_content_type text, p_correlation_id text,
    p_reply_to text, p_message_type text, p_conversation_id uuid
) returns bytea
language sql stable
as $$
    select substr(sha256(
        convert_to(row(p_secret, nullif(p_headers - array['originalExpiration', 'originalDeliveryMode',
            'dlqDeliveryFailureCause'], '{}'), p_is_text,
            p_content_type, p_correlation_id, p_reply_to, p_message_type, p_conversation_id)::text, 'UTF8')
        || p_body || int4send(octet_length(p_body))), 1, 16)
$$;
