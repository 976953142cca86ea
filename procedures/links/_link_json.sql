-- howdah._link_json(p_message, p_queue, p_engine_id, p_engine_name): a message as it goes over a link.
--
-- Returns  json: an object.
-- Role     internal
--
-- JSON, because the other engine may be of another release. Bytes are base64. What is left of its life goes with the
-- message, in tenths of a second, and not a time, because the clocks of two servers differ.
--
-- Two headers tell the way: JMS_Howdah_Origin has the engine, the queue and the number where it was sent first;
-- JMS_Howdah_Route has the identities of the engines that it passed.
create or replace function howdah._link_json(
    p_message howdah.message, p_queue text, p_engine_id uuid, p_engine_name text
) returns json
language sql stable
as $$
    select json_build_object(
        'message_id', p_message.message_id, 'sent_at', p_message.sent_at, 'text', p_message.body,
        'bytes', encode(p_message.bytes, 'base64'), 'content_type', p_message.content_type,
        'headers', coalesce(p_message.headers - 'JMSXGroupFirstForConsumer', '{}') || jsonb_build_object(
            'JMS_Howdah_Origin', coalesce(p_message.headers ->> 'JMS_Howdah_Origin',
                concat_ws('/', p_engine_name, p_queue, p_message.message_id)),
            'JMS_Howdah_Route', concat_ws(' ', p_message.headers ->> 'JMS_Howdah_Route', p_engine_id)),
        'priority', p_message.priority, 'correlation_id', p_message.correlation_id, 'reply_to', p_message.reply_to,
        'message_type', p_message.message_type, 'conversation_id', p_message.conversation_id,
        'delivery_mode', p_message.delivery_mode,
        'lives_ms', greatest(ceil(extract(epoch from p_message.expires_at - howdah.now()) * 10) * 100, 100)::bigint,
        'position', p_message."position", 'stage', p_message.stage)
$$;
