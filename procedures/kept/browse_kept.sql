-- howdah.browse_kept(queue, max_messages, after_kept_at, after_id, only_id, newest_first): look at messages that were
-- consumed and that their queue keeps (docs/kept-bodies.md).
--
-- Returns  up to max_messages messages by time and id, the oldest first, with the whole body; those past their time
--          are not shown. kept_until is NULL for what stays until somebody deletes it.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed.
-- Role     howdah_browser howdah_consumer howdah_admin
--
-- For the next page, pass kept_at and message_id of the last message shown. only_id: only the message with that id. If
-- a consumer commits late, its message may lie before the page that was read last.
--
-- Where a redaction rule matches, bodies come redacted to callers who may neither receive nor administer the messages
-- (docs/search.md).
create or replace function howdah.browse_kept(
    queue text, max_messages integer default 100, after_kept_at timestamptz default null, after_id bigint default null,
    only_id bigint default null, newest_first boolean default false
) returns table (
    message_id bigint, kept_at timestamptz, kept_until timestamptz, body text, bytes bytea, content_type text,
    headers jsonb, priority integer, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    delivery_mode text, sent_at timestamptz, expires_at timestamptz, delivery_count integer, origin_queue text,
    dead_reason text, dead_at timestamptz, reliability text
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'browse');
    v_whole boolean := howdah._sees_bodies(v_destination.name);
    v_kept howdah.kept_messages;
    v_message howdah.message;
begin
    if max_messages is null or max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(max_messages::text, 'NULL'));
    elsif (after_kept_at is null) <> (after_id is null) then
        raise exception using errcode = 'HD005', message = 'after_kept_at and after_id come together',
            hint = 'Pass kept_at and message_id of the last message shown.';
    end if;
    for v_kept in
        select r.* from howdah._kept_rows(v_destination.id, max_messages,
            case when only_id is not null then array[only_id] end, null, null, after_kept_at, after_id,
            coalesce(newest_first, false)) r
    loop
        v_message := howdah._kept_message(v_kept, v_destination.name);
        if not v_whole then
            v_message := howdah._redacted(v_message);
        end if;
        return query select v_message.message_id, v_kept.kept_at, nullif(v_kept.kept_until, 'infinity'),
            v_message.body, v_message.bytes,
            v_message.content_type, v_message.headers, v_message.priority, v_message.correlation_id,
            v_message.reply_to, v_message.message_type, v_message.conversation_id, v_message.delivery_mode,
            v_message.sent_at, v_message.expires_at, v_message.delivery_count, v_message.origin_queue,
            v_message.dead_reason, v_message.dead_at, v_message.reliability;
    end loop;
end
$$;
