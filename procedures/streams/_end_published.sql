-- howdah._end_published(p_destination, p_ack, p_messages, …): count the failures of messages of a topic that the caller
-- has locked for a subscription, and dispose of those at their limit.
--
-- Returns  one row: the ids of the messages that failed, how often each did, and the positions of those that are ended.
-- Role     internal
--
-- p_gone: positions of messages that others have finished with. p_seqs and p_xids: where the messages lie.
create or replace function howdah._end_published(
    p_destination howdah.destinations, p_ack integer, p_messages howdah.message[], p_gone bigint[], p_seqs bigint[],
    p_xids xid8[], p_now timestamptz, out failed bigint[], out failures integer[], out ended bigint[]
) returns record
language plpgsql volatile
as $$
begin
    select array_agg(f.message_id), array_agg(f.failures),
        coalesce(array_agg(f.message_id / 1000000) filter (where f.weight >= p_destination.dispose_at), '{}')
    into failed, failures, ended
    from (select array_agg(m.message_id) as ids, array_agg(0::smallint) as stages,
              array_agg(m.conversation_id) as conversations,
              array_agg(howdah._group(m.headers, m.conversation_id)) as groups
          from unnest(p_messages) m where m."position" <> all (p_gone)) a
    cross join lateral howdah._count_failures(p_destination.id, a.ids, a.stages, a.conversations, a.groups) f
    where f.stage = 0;
    if ended <> '{}' then
        perform howdah._note_done(p_ack, array[u.seq], array[u.xid])
        from unnest(p_seqs, p_xids) u(seq, xid) where u.seq = any (ended);
        perform howdah._dispose_published(p_destination, m.message_id, m.sent_at, m.expires_at,
            (9 - m.priority)::smallint, m.body is not null, m.content_type,
            coalesce(m.bytes, convert_to(m.body, 'UTF8')), m.headers, m.correlation_id, m.reply_to, m.message_type,
            m.conversation_id, m.delivery_mode = 'non-persistent', howdah._reliability_number(m.reliability), p_now)
        from unnest(p_messages) m where m."position" = any (ended);
    end if;
end
$$;
