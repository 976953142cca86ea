-- howdah._take_walked(p_lane, p_walk, p_want, p_now, p_hold, p_all): take what a walk has found and locked.
--
-- Returns  setof howdah.claimed, as howdah._claim. The first message of a sticky group new to its consumer has the
--          header JMSXGroupFirstForConsumer.
-- Role     internal
--
-- A look moves messages whose leases ran out to parked in the caller's transaction: at most 1,000 more than are wanted.
-- The next look, or maintenance, continues.
create or replace function howdah._take_walked(
    p_lane howdah.lanes, p_walk howdah.walk, p_want integer, p_now timestamptz, p_hold boolean, p_all boolean
) returns setof howdah.claimed
language plpgsql volatile
as $$
declare
    v_keys bigint[];
    v_firsts bigint[];
begin
    if p_lane.place = 0 then
        perform howdah._return_leases(p_lane.destination_id, p_want + 1000, p_now);
    end if;
    select array_agg(w.key), array_agg(w.key) filter (where w.first) into v_keys, v_firsts
    from howdah._walk(p_lane, p_walk, p_want, p_now, p_all) w;
    if p_lane.place > 0 and p_walk.groups <> 'none' and v_keys is not null
       and (select pg_sequence_last_value(d.failing) is not null from howdah.destinations d
           where d.id = p_lane.destination_id) then
        v_keys := howdah._without_waiting(p_lane, v_keys, p_now);
    end if;
    if p_lane.place = 2 then
        return query
        select m.seq, m.message_id, m.sent_at, m.expires_at, m.dead_at, m.destination_id, m.origin_id, m.rank, m.stage,
            m.is_text, m.content_type, m.body, howdah._first_for_consumer(m.headers, m.seq = any (v_firsts)),
            m.correlation_id, m.reply_to, m.message_type, m.conversation_id, m.dead_reason, 'msgs', false
        from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between v_keys[1] and v_keys[cardinality(v_keys)] and m.seq = any (v_keys) order by m.seq;
        delete from howdah.msgs m
        where not p_hold and m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between v_keys[1] and v_keys[cardinality(v_keys)] and m.seq = any (v_keys);
    elsif p_lane.place = 1 then
        return query
        select n.seq, n.message_id, n.sent_at, n.expires_at, n.dead_at, n.destination_id, n.origin_id, n.rank, n.stage,
            n.is_text, n.content_type, n.body, howdah._first_for_consumer(n.headers, n.seq = any (v_firsts)),
            n.correlation_id, n.reply_to, n.message_type, n.conversation_id, n.dead_reason, 'msgs_nonpersistent', true
        from howdah.msgs_nonpersistent n
        where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq = any (v_keys) order by n.seq;
        delete from howdah.msgs_nonpersistent n
        where not p_hold and n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq = any (v_keys);
    else
        perform howdah._blame_leases(p_lane.destination_id, l.rows)
        from (select array_agg(p) as rows from howdah.parked p
              where p.destination_id = p_lane.destination_id and p.message_id = any (v_keys)
                and p.lease_id is not null) l
        where l.rows is not null;
        return query
        select p.seq, p.message_id, p.sent_at, p.expires_at, p.dead_at, p.destination_id, p.origin_id, p.rank, p.stage,
            p.is_text, p.content_type, p.body, howdah._first_for_consumer(p.headers, p.message_id = any (v_firsts)),
            p.correlation_id, p.reply_to, p.message_type, p.conversation_id, p.dead_reason, 'parked', p.boot is not null
        from howdah.parked p
        where p.destination_id = p_lane.destination_id and p.message_id = any (v_keys) order by p.due_at, p.seq;
        delete from howdah.parked p
        where not p_hold and p.destination_id = p_lane.destination_id and p.message_id = any (v_keys);
    end if;
end
$$;
