-- howdah._journal_sent(p_destination, p_message_ids, p_nonpersistent, p_sent_at, p_expires_at, p_headers,
-- p_conversation_ids, p_priorities, p_delayed, p_digests, p_reliability): record messages that came into a
-- destination, with what an audit needs to judge their end.
--
-- Role     internal
--
-- The caller has seen journal_level full. p_sent_at and p_expires_at apply to all messages; arrays are NULL or as long
-- as p_message_ids. Groups are recorded where they bind: in a queue with message_groups, for messages without a delay.
create or replace function howdah._journal_sent(
    p_destination howdah.destinations, p_message_ids bigint[], p_nonpersistent boolean, p_sent_at timestamptz,
    p_expires_at timestamptz, p_headers jsonb[], p_conversation_ids uuid[], p_priorities integer[], p_delayed boolean,
    p_digests bytea[], p_reliability smallint
) returns void
language plpgsql volatile
as $$
declare
    v_count integer := cardinality(p_message_ids);
    v_groups text[];
    v_priorities smallint[] := array_fill(p_destination.default_priority::smallint, array[v_count]);
    v_settled bigint;
begin
    if v_count = 0 then
        return;
    end if;
    if p_priorities is not null then
        v_priorities := array(select coalesce(u.priority, p_destination.default_priority)
            from unnest(p_priorities) with ordinality u(priority, n) order by u.n);
    end if;
    if p_destination.message_groups <> 'none' and p_delayed is not true then
        select array_agg(howdah._group(u.headers, u.conversation_id) order by u.n),
            pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        into v_groups, v_settled
        from unnest(p_message_ids, p_headers, p_conversation_ids) with ordinality u(message_id, headers,
            conversation_id, n)
        having count(howdah._group(u.headers, u.conversation_id)) > 0;
    end if;
    insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at, expires_at,
        group_ids, priorities, settled_xid, digests, reliability)
    values (howdah.now(), p_destination.id, p_nonpersistent, 'sent', p_message_ids, p_sent_at,
        case when p_expires_at is not null then array_fill(p_expires_at, array[v_count]) end, v_groups, v_priorities,
        v_settled, p_digests, p_reliability);
end
$$;
