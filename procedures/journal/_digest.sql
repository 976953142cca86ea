-- howdah._digest(p_secret, p_body, p_headers, p_is_text, p_content_type, p_correlation_id, p_reply_to, p_message_type,
-- p_conversation_id): a value that identifies a message's content.
--
-- Returns  16 bytes (bytea): the first half of a SHA-256 hash.
-- Role     internal
--
-- It leaves out the three headers that an ActiveMQ dead-letter queue adds, so a message has the same digest wherever it
-- lies. It contains the engine's secret. Otherwise a reader of digests could find a short body by trying. The length at
-- the end says where the body begins.
--
-- The view for audits repeats the expression, because a view calls functions with its reader's rights.
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
