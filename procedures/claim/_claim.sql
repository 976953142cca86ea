-- howdah._claim(p_lane, p_want, p_now, p_hold, p_positions, p_locked, p_all, p_walk): take messages from a lane in any
-- way except the main one.
--
-- Returns  setof howdah.claimed, in order. With p_hold the rows are locked until the transaction ends; otherwise they
--          are deleted.
-- Role     internal
--
-- Ready messages are taken only with p_hold, by the positions that the caller found. Non-persistent and parked messages
-- are found by looks of their own; p_all makes these look behind the head, too. With p_walk, howdah._walk finds all
-- messages.
create or replace function howdah._claim(
    p_lane howdah.lanes, p_want integer, p_now timestamptz, p_hold boolean, p_positions bigint[], p_locked boolean,
    p_all boolean, p_walk howdah.walk
) returns setof howdah.claimed
language plpgsql volatile
as $$
declare
    v_tids tid[];
begin
    if p_walk.groups is not null then
        return query select * from howdah._take_walked(p_lane, p_walk, p_want, p_now, p_hold, p_all);
    elsif p_lane.place = 2 then
        return query
        select m.*, 'msgs', false from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
          and (p_locked or m.xmax = 0)
        order by m.seq for update skip locked;
    elsif p_lane.place = 1 then
        v_tids := howdah._look_nonpersistent(p_lane, p_want, p_all);
        return query
        select n.seq, n.message_id, n.sent_at, n.expires_at, n.dead_at, n.destination_id, n.origin_id, n.rank, n.stage,
            n.is_text, n.content_type, n.body, n.headers, n.correlation_id, n.reply_to, n.message_type,
            n.conversation_id, n.dead_reason, 'msgs_nonpersistent', true
        from howdah.msgs_nonpersistent n where n.ctid = any (v_tids) order by n.seq;
        if not p_hold then
            delete from howdah.msgs_nonpersistent n where n.ctid = any (v_tids);
        end if;
    else
        v_tids := howdah._look_parked(p_lane, p_want, p_now, p_all);
        perform howdah._blame_leases(p_lane.destination_id, l.rows)
        from (select array_agg(p) as rows from howdah.parked p where p.ctid = any (v_tids) and p.lease_id is not null) l
        where l.rows is not null;
        return query
        select p.seq, p.message_id, p.sent_at, p.expires_at, p.dead_at, p.destination_id, p.origin_id, p.rank, p.stage,
            p.is_text, p.content_type, p.body, p.headers, p.correlation_id, p.reply_to, p.message_type,
            p.conversation_id, p.dead_reason, 'parked', p.boot is not null
        from howdah.parked p where p.ctid = any (v_tids) order by p.due_at, p.seq;
        if not p_hold then
            delete from howdah.parked p where p.ctid = any (v_tids);
        end if;
    end if;
end
$$;
