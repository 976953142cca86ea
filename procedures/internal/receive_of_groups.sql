-- howdah._receive_one_of_group(p_lane, p_walk, p_name, p_now, p_failing, p_most, p_journaled): receive one message of a queue whose groups are transactions', the short way.
--
-- Returns  howdah.message; none: the long way must look, because there are other lanes to be looked at, messages may have been given back, or none is to be had.
-- Role     internal
--
-- What howdah._take_walked and the last part of howdah.receive do for any number, in three statements. One in thirty goes the long way in any case, which
-- finds what was given back.
create or replace function howdah._receive_one_of_group(
    p_lane howdah.lanes, p_walk howdah.walk, p_name text, p_now timestamptz, p_failing regclass, p_most integer, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_message howdah.msgs;
    v_seq bigint;
begin
    if p_walk.condition is not null or p_walk.share is not null or random() >= 0.97
       or exists (select from howdah.lanes l
                  where l.destination_id = p_lane.destination_id and (l.place > 0 or howdah._may_be_due(l, p_now))) then
        return;
    end if;
    v_seq := howdah._claim_one_of_group(p_lane, howdah._walk_from(p_lane, p_walk, false));
    if v_seq is null then
        return;
    end if;
    delete from howdah.msgs m where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq = v_seq
    returning m.* into v_message;
    if (pg_sequence_last_value(p_failing) is not null and not howdah._is_unblamed(v_message.message_id, howdah._group(v_message.headers, v_message.conversation_id)))
       or v_message.expires_at <= p_now then
        return query select * from howdah._deliver(p_lane.destination_id, v_message, p_now, p_most, p_journaled);
        return;
    end if;
    if p_journaled then
        insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
        values (howdah.now(), p_lane.destination_id, 'consumed', array[v_message.message_id], v_message.sent_at);
    end if;
    if v_message.body is null then
        v_message.body := howdah._take_body(v_message.message_id);
    end if;
    return next row(v_message.message_id, p_name,
        case when v_message.is_text then convert_from(v_message.body, 'UTF8') end,
        case when not v_message.is_text then v_message.body end, v_message.content_type, v_message.headers,
        9 - v_message.rank, v_message.correlation_id, v_message.reply_to, v_message.message_type,
        v_message.conversation_id, 'persistent', v_message.sent_at, v_message.expires_at, 1, false, v_message.seq,
        v_message.stage::integer,
        case when v_message.origin_id is not null then howdah._name(v_message.origin_id) end,
        v_message.dead_reason, v_message.dead_at
    )::howdah.message;
end
$$;

-- howdah._receive_of_groups(p_lane, p_walk, p_name, p_now, p_want, p_journaled): receive some messages of a queue whose groups are transactions', the short way.
--
-- Returns  howdah.message, p_want of them; none: as howdah._receive_one_of_group, or there are fewer to be had so. Nothing ever failed in the queue.
-- Role     internal
create or replace function howdah._receive_of_groups(
    p_lane howdah.lanes, p_walk howdah.walk, p_name text, p_now timestamptz, p_want integer, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_seqs bigint[];
begin
    if p_walk.condition is not null or p_walk.share is not null or random() >= 0.97
       or exists (select from howdah.lanes l
                  where l.destination_id = p_lane.destination_id and (l.place > 0 or howdah._may_be_due(l, p_now))) then
        return;
    end if;
    v_seqs := howdah._claim_of_groups(p_lane, howdah._walk_from(p_lane, p_walk, false), p_want);
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
    select c.message_id, p_name, case when c.is_text then convert_from(coalesce(c.body, howdah._take_body(c.message_id)), 'UTF8') end,
        case when not c.is_text then coalesce(c.body, howdah._take_body(c.message_id)) end, c.content_type, c.headers, 9 - c.rank,
        c.correlation_id, c.reply_to, c.message_type, c.conversation_id, 'persistent', c.sent_at, c.expires_at, 1, false, c.seq,
        c.stage::integer, case when c.origin_id is not null then howdah._name(c.origin_id) end, c.dead_reason, c.dead_at
    from taken c
    where (c.expires_at > p_now) is not false or howdah._dispose(p_lane.destination_id, row(c.seq, c.message_id, c.sent_at, c.expires_at,
        c.dead_at, c.destination_id, c.origin_id, c.rank, c.stage, c.is_text, c.content_type, c.body, c.headers, c.correlation_id,
        c.reply_to, c.message_type, c.conversation_id, c.dead_reason)::howdah.msgs, false, null, p_now)
    order by c.seq;
end
$$;
