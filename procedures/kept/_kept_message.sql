-- howdah._kept_message(p_kept, p_queue): a kept message as callers see messages.
--
-- Returns  howdah.message, without a position.
-- Role     internal
create or replace function howdah._kept_message(p_kept howdah.kept_messages, p_queue text) returns howdah.message
language sql immutable
as $$
    select row(p_kept.message_id, p_queue, case when p_kept.is_text then convert_from(p_kept.body, 'UTF8') end,
        case when not p_kept.is_text then p_kept.body end, p_kept.content_type, p_kept.headers,
        p_kept.priority::integer, p_kept.correlation_id, p_kept.reply_to, p_kept.message_type, p_kept.conversation_id,
        case when p_kept.nonpersistent then 'non-persistent' else 'persistent' end, p_kept.sent_at, p_kept.expires_at,
        p_kept.delivery_count, p_kept.delivery_count > 1, null::bigint, p_kept.stage::integer, p_kept.origin_queue,
        p_kept.dead_reason, p_kept.dead_at, howdah._level_name(p_kept.reliability, p_kept.nonpersistent)
    )::howdah.message
$$;
