-- howdah._receive_of_groups(p_lane, p_name, p_now, p_want, p_journaled): receive several messages of a queue with
-- transaction groups in the short way.
--
-- Returns  p_want rows of howdah.message; no row where howdah._take_one_of_group gives none, or if fewer can be taken
--          so. Nothing has ever failed in the queue.
-- Role     internal
create or replace function howdah._receive_of_groups(
    p_lane howdah.lanes, p_name text, p_now timestamptz, p_want integer, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_seqs bigint[];
begin
    if not howdah._is_plain(p_lane.destination_id, 'transaction') then
        return;
    end if;
    v_seqs := howdah._claim_of_groups(p_lane, null, howdah._walk_from(p_lane, null, false), p_want, random() >= 0.97);
    if v_seqs is null then
        return;
    end if;
    return query
    with taken as materialized (
        delete from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between v_seqs[1] and v_seqs[p_want] and m.seq = any (v_seqs)
        returning m.*
    ), journaled as (
        insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
        select howdah.now(), p_lane.destination_id, 'consumed', array_agg(c.message_id), min(c.sent_at)
        from taken c where (c.expires_at > p_now) is not false and p_journaled
        having count(*) > 0
    )
    select c.message_id, p_name, case when c.is_text
        then convert_from(coalesce(c.body, howdah._take_body(c.message_id)), 'UTF8') end,
        case when not c.is_text then coalesce(c.body, howdah._take_body(c.message_id)) end, c.content_type, c.headers,
        9 - c.rank, c.correlation_id, c.reply_to, c.message_type, c.conversation_id, 'persistent', c.sent_at,
        c.expires_at, 1, false, c.seq, c.stage::integer,
        case when c.origin_id is not null then howdah._destination_name(c.origin_id) end,
        c.dead_reason, c.dead_at
    from taken c
    where (c.expires_at > p_now) is not false or howdah._dispose(p_lane.destination_id,
        row(c.seq, c.message_id, c.sent_at, c.expires_at,
        c.dead_at, c.destination_id, c.origin_id, c.rank, c.stage, c.is_text, c.content_type, c.body, c.headers,
        c.correlation_id, c.reply_to, c.message_type, c.conversation_id, c.dead_reason)::howdah.msgs, false, null,
        p_now)
    order by c.seq;
end
$$;
