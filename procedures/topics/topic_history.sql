-- howdah.topic_history(topic, since, max_messages): browse the messages of a topic that are still stored, without
-- receiving them.
--
-- Returns  the first max_messages rows of howdah.message sent from since on (NULL: all), oldest first.
-- Raises   HD001 no such topic; HD005 max_messages is not positive; HD010 not allowed; HD037 on a standby.
-- Role     howdah_browser howdah_admin
--
-- Where a redaction rule matches the topic, bodies come redacted as with howdah.browse.
create or replace function howdah.topic_history(
    topic text, since timestamptz default null, max_messages integer default 100
)
returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._topic(topic, 'browse')).id;
    v_paths text[] := case when not howdah._sees_bodies(topic) then howdah._redaction_paths(topic, null, null) end;
begin
    perform howdah._check_all_here();
    if (max_messages > 0) is not true then
        raise exception using errcode = 'HD005', message = 'max_messages must be positive';
    end if;
    return query
    select h.seq * 1000000 + h.destination_id, topic,
        case when h.is_text then howdah._redacted_text(h.body, true, v_paths) end,
        case when not h.is_text and v_paths is null then h.body when not h.is_text then '[redacted]' end,
        h.content_type, h.headers, 9 - h.rank, h.correlation_id, h.reply_to, h.message_type,
        h.conversation_id, case when h.nonpersistent then 'non-persistent' else 'persistent' end,
        h.sent_at, h.expires_at, 1, false, h.seq, 0, null::text, null::text, null::timestamptz,
        howdah._level_name(h.reliability, h.nonpersistent)
    from howdah._history(v_id, since) h order by h.seq limit max_messages;
end
$$;
