-- howdah._take_locked(p_lane, p_positions, p_tids, p_firsts, p_hold): read messages of a lane that howdah._find_in_lane
-- has found and locked, and delete them unless they are held.
--
-- Returns  setof howdah.claimed, in order. The messages in p_firsts have the header JMSXGroupFirstForConsumer.
-- Role     internal
create or replace function howdah._take_locked(
    p_lane howdah.lanes, p_positions bigint[], p_tids tid[], p_firsts bigint[], p_hold boolean
) returns setof howdah.claimed
language plpgsql volatile
as $$
begin
    if p_lane.place = 2 then
        return query
        select m.seq, m.message_id, m.sent_at, m.expires_at, m.dead_at, m.destination_id, m.origin_id, m.rank, m.stage,
            m.is_text, m.content_type, m.body, howdah._first_for_consumer(m.headers, m.seq = any (p_firsts)),
            m.correlation_id, m.reply_to, m.message_type, m.conversation_id, m.dead_reason, m.reliability, 'msgs', false
        from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
        order by m.seq;
        delete from howdah.msgs m
        where not p_hold and m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions);
    elsif p_lane.place = 1 then
        return query
        select n.seq, n.message_id, n.sent_at, n.expires_at, n.dead_at, n.destination_id, n.origin_id, n.rank, n.stage,
            n.is_text, n.content_type, n.body, howdah._first_for_consumer(n.headers, n.seq = any (p_firsts)),
            n.correlation_id, n.reply_to, n.message_type, n.conversation_id, n.dead_reason, n.reliability,
            'msgs_nonpersistent', true
        from howdah.msgs_nonpersistent n where n.ctid = any (p_tids) order by n.seq;
        delete from howdah.msgs_nonpersistent n where not p_hold and n.ctid = any (p_tids);
    else
        perform howdah._blame_leases(p_lane.destination_id, l.rows)
        from (select array_agg(p) as rows from howdah.parked p where p.ctid = any (p_tids) and p.lease_id is not null) l
        where l.rows is not null;
        return query
        select p.seq, p.message_id, p.sent_at, p.expires_at, p.dead_at, p.destination_id, p.origin_id, p.rank, p.stage,
            p.is_text, p.content_type, p.body, howdah._first_for_consumer(p.headers, p.message_id = any (p_firsts)),
            p.correlation_id, p.reply_to, p.message_type, p.conversation_id, p.dead_reason, p.reliability, 'parked',
            p.boot is not null
        from howdah.parked p where p.ctid = any (p_tids) order by p.due_at, p.seq;
        delete from howdah.parked p where not p_hold and p.ctid = any (p_tids);
    end if;
end
$$;
