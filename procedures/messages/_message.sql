-- howdah._message(p_message, p_queue, p_nonpersistent, p_failures): a stored message as callers see it.
--
-- Returns  howdah.message.
-- Role     internal
create or replace function howdah._message(
    p_message howdah.msgs, p_queue text, p_nonpersistent boolean, p_failures integer
)
returns howdah.message
language sql stable
as $$
    select row(
        p_message.message_id, p_queue,
        CONTENT_OF p_message ELSE howdah._body(p_message.message_id),
        case when p_nonpersistent then 'non-persistent' else 'persistent' end,
        p_message.sent_at, p_message.expires_at, p_failures + 1, p_failures > 0, p_message.seq,
        p_message.stage::integer, (select d.name from howdah.destinations d where d.id = p_message.origin_id),
        p_message.dead_reason, p_message.dead_at,
        howdah._level_name(p_message.reliability, p_nonpersistent)
    )::howdah.message
$$;
