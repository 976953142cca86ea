-- howdah.show_message(queue, message_id): show one message of a queue to a person, without what is private.
--
-- Returns  one row with the whole body as text (bytes as hexadecimal digits), redacted; no row if it is not there.
-- Raises   HD001 no such queue; HD010 not allowed; HD037 on a standby.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- It looks by key and locks nothing. For a subscription by wildcard it shows no message of a topic that the caller may
-- not browse. due_at and parked_reason tell until when and why a message waits.
create or replace function howdah.show_message(queue text, message_id bigint) returns table (
    id bigint, state text, priority integer, sent_at timestamptz, expires_at timestamptz, message_group text,
    attempts integer, headers jsonb, body text, body_type text, body_bytes integer, content_type text,
    correlation_id text, reply_to text, message_type text, delivery_mode text, origin_queue text, dead_reason text,
    dead_at timestamptz, due_at timestamptz, parked_reason text, redacted boolean
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'browse');
begin
    perform howdah._check_all_here();
    return query
    select (p.message).message_id,
        howdah._message_state(p.parked_reason = 'lease', p.due_at, p.parked_reason, (p.message).dead_at,
            (p.message).expires_at, howdah.now()),
        (p.message).priority, (p.message).sent_at, (p.message).expires_at,
        howdah._group((p.message).headers, (p.message).conversation_id), (p.message).delivery_count - 1,
        (p.message).headers, howdah._redacted_text(b.body, (p.message).body is not null, b.paths),
        howdah._body_type((p.message).body is not null, (p.message).content_type),
        octet_length(b.body), (p.message).content_type, (p.message).correlation_id, (p.message).reply_to,
        (p.message).message_type, (p.message).delivery_mode, (p.message).origin_queue, (p.message).dead_reason,
        (p.message).dead_at, p.due_at, p.parked_reason, b.paths is not null
    from howdah._whole_message(show_message.message_id, v_destination.name) p
    cross join lateral (select coalesce(convert_to((p.message).body, 'UTF8'), (p.message).bytes) as body,
        howdah._redaction_paths(v_destination.name, (p.message).origin_queue,
            (p.message).message_id) as paths offset 0) b
    where not howdah._reads_wildcard(v_destination) or howdah._may_read_copy((p.message).message_id, 'browse')
    limit 1;
end
$$;
