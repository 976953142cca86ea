-- howdah._journal_one_sent(p_destination, p_message, p_body, p_nonpersistent, p_delayed): record one message of any
-- sort as sent, as howdah._journal_sent does for many.
--
-- Role     internal
--
-- p_body: its body, wherever that is stored.
create or replace function howdah._journal_one_sent(
    p_destination howdah.destinations, p_message howdah.msgs, p_body bytea, p_nonpersistent boolean, p_delayed boolean
) returns void
language plpgsql volatile
as $$
declare
    v_group text := case when p_destination.message_groups <> 'none' and p_delayed is not true
        then howdah._group(p_message.headers, p_message.conversation_id) end;
begin
    insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at, expires_at,
        group_ids, priorities, settled_xid, digests, reliability)
    select howdah.now(), p_destination.id, p_nonpersistent, 'sent', array[p_message.message_id], p_message.sent_at,
        case when p_message.expires_at is not null then array[p_message.expires_at] end,
        case when v_group is not null then array[v_group] end, array[9 - p_message.rank],
        case when v_group is not null then pg_snapshot_xmin(pg_current_snapshot())::text::bigint end,
        array[howdah._digest(e.digest_secret, p_body, p_message.headers, p_message.is_text, p_message.content_type,
            p_message.correlation_id, p_message.reply_to, p_message.message_type, p_message.conversation_id)],
        p_message.reliability
    from howdah.engine e;
end
$$;
