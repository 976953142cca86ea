-- howdah._keep(p_destination_id, p_messages, p_keep_ms, p_read_counts, p_visible_at, p_last_read_at): keep messages
-- that this transaction consumes.
--
-- Role     internal
--
-- p_keep_ms: for how long; NULL: until somebody deletes them. A function that consumes messages calls this in the same
-- transaction, whatever the queue's option says. The last three arguments are for a facade that counts reads. Each of
-- them is NULL, or has a value or NULL for each message.
--
-- The header that a receive adds for message groups is no part of the message, and is left out.
create or replace function howdah._keep(
    p_destination_id integer, p_messages howdah.message[], p_keep_ms bigint, p_read_counts integer[] default null,
    p_visible_at timestamptz[] default null, p_last_read_at timestamptz[] default null
) returns void
language sql volatile
as $$
    with n as materialized (select howdah.now() as moment)
    insert into howdah.kept_messages (message_id, kept_at, kept_until, sent_at, expires_at, dead_at, visible_at,
        last_read_at, destination_id, delivery_count, stage, priority, reliability, nonpersistent, is_text,
        content_type, body, headers, correlation_id, reply_to, message_type, conversation_id, origin_queue, dead_reason)
    select m.message_id, n.moment, coalesce(n.moment + p_keep_ms * interval '1 millisecond', 'infinity'), m.sent_at,
        m.expires_at, m.dead_at, m.visible_at, m.last_read_at, p_destination_id,
        coalesce(m.read_count, m.delivery_count), m.stage, m.priority,
        array_position(array['BEST_EFFORT_NONPERSISTENT', 'EXPRESS_NONPERSISTENT', 'RELIABLE_NONPERSISTENT',
            'RELIABLE_PERSISTENT', 'ASSURED_PERSISTENT'], m.reliability) - 1,
        m.delivery_mode = 'non-persistent', m.body is not null, m.content_type,
        coalesce(convert_to(m.body, 'UTF8'), m.bytes, ''), m.headers - 'JMSXGroupFirstForConsumer',
        m.correlation_id, m.reply_to, m.message_type, m.conversation_id, m.origin_queue, m.dead_reason
    from unnest(p_messages, p_read_counts, p_visible_at, p_last_read_at) m(message_id, queue, body, bytes, content_type,
        headers, priority, correlation_id, reply_to, message_type, conversation_id, delivery_mode, sent_at, expires_at,
        delivery_count, redelivered, "position", stage, origin_queue, dead_reason, dead_at, reliability, read_count,
        visible_at, last_read_at)
    cross join n
$$;
