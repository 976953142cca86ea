-- howdah._take_parked(p_destination_id, p_name, p_tids, p_now, p_journaled): receive the due messages that the caller
-- has locked, where nothing ever failed and none of them comes back from a lease.
--
-- Returns  howdah.message of each, in order; expired messages are disposed of instead.
-- Role     internal
create or replace function howdah._take_parked(
    p_destination_id integer, p_name text, p_tids tid[], p_now timestamptz, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
begin
    return query
    with taken as materialized (
        delete from howdah.parked p where p.ctid = any (p_tids)
        returning p.*, p.boot is not null as nonpersistent
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at)
        select p_now, p_destination_id, c.nonpersistent, 'consumed', array_agg(c.message_id order by c.due_at, c.seq),
            min(c.sent_at)
        from taken c where (c.expires_at > p_now) is not false and p_journaled
        group by c.nonpersistent
    )
    select c.message_id, p_name, case
        when c.is_text then convert_from(coalesce(c.body, howdah._take_body(c.message_id)), 'UTF8') end,
        case when not c.is_text then coalesce(c.body, howdah._take_body(c.message_id)) end,
        c.content_type, c.headers, 9 - c.rank, c.correlation_id, c.reply_to, c.message_type, c.conversation_id,
        case when c.nonpersistent then 'non-persistent' else 'persistent' end, c.sent_at, c.expires_at, 1, false,
        c.seq, c.stage::integer, case when c.origin_id is not null then howdah._destination_name(c.origin_id) end,
        c.dead_reason, c.dead_at, howdah._level_name(c.reliability, c.nonpersistent)
    from (select t.* from taken t order by t.due_at, t.seq offset 0) c  -- disposed of in order
    where (c.expires_at > p_now) is not false
       or howdah._dispose(p_destination_id, row(c.seq, c.message_id, c.sent_at, c.expires_at, c.dead_at,
           c.destination_id, c.origin_id, c.rank, c.stage, c.is_text, c.content_type, c.body, c.headers,
           c.correlation_id, c.reply_to, c.message_type, c.conversation_id, c.dead_reason,
           c.reliability)::howdah.msgs, c.nonpersistent, null, p_now);
end
$$;
