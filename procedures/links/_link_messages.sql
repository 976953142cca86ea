-- howdah._link_messages(p_messages): the messages of a batch as it came over a link.
--
-- Returns  one row for each, with its number (n). An engine of a release without levels gives a delivery mode.
-- Raises   HD005 it is no JSON array of messages.
-- Role     internal
create or replace function howdah._link_messages(p_messages json)
returns table (
    n bigint, message_id bigint, sent_at timestamptz, is_text boolean, body bytea, content_type text, headers jsonb,
    priority integer, correlation_id text, reply_to text, message_type text, conversation_id uuid, reliability text,
    lives interval
)
language plpgsql volatile
as $$
begin
    return query
    select m.ordinality, m.message_id, m.sent_at, m.text is not null,
        coalesce(convert_to(m.text, 'UTF8'), decode(m.bytes, 'base64')), m.content_type, m.headers, m.priority,
        m.correlation_id, m.reply_to, m.message_type, m.conversation_id, coalesce(m.reliability, m.delivery_mode),
        m.lives_ms * interval '1 millisecond'
    from rows from (json_to_recordset(p_messages) as (message_id bigint, sent_at timestamptz, text text, bytes text,
        content_type text, headers jsonb, priority integer, correlation_id text, reply_to text, message_type text,
        conversation_id uuid, delivery_mode text, reliability text, lives_ms bigint)) with ordinality m;
exception when data_exception then
    raise exception using errcode = 'HD005', message = format('messages is no JSON array of messages: %s', sqlerrm),
        hint = 'Give what howdah.link_take returned.';
end
$$;
