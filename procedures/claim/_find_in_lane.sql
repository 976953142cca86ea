-- howdah._find_in_lane(p_lane, p_walk, p_way, p_want, p_held, p_now, p_all): find messages of a lane that a receive may
-- take.
--
-- Returns  one row: positions of ready messages, or row identifiers (tids) of others; both in order. locked: nobody
--          else can take them. It is false for positions that were drawn (howdah._next_positions). firsts: the keys
--          that begin a sticky group new to the consumer. parked: the call met a message that waits for its delay, and
--          parked it.
-- Role     internal
--
-- p_walk says how to walk through a queue from which a receive cannot simply take in order; its groups are NULL for
-- other queues. p_way, p_held: as in howdah._next_positions; other places have one way, named only. A look for parked
-- messages also moves messages there whose leases ran out, in the caller's transaction: at most 1,000 more than are
-- wanted. The next look, or maintenance, continues.
create or replace function howdah._find_in_lane(
    p_lane howdah.lanes, p_walk howdah.walk, p_way text, p_want integer, p_held bigint, p_now timestamptz,
    p_all boolean, out positions bigint[], out tids tid[], out locked boolean, out firsts bigint[], out parked boolean
) returns record
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_keys bigint[];
begin
    locked := true;
    parked := false;
    if p_walk.groups is null and p_lane.place = 2 then
        select n.positions, n.locked into positions, locked
        from howdah._next_positions(p_lane, p_way, p_want, p_held, p_all) n;
        return;
    elsif p_walk.groups is not null and p_lane.place < 2 then
        p_lane.head := null;  -- walked from the beginning
        p_lane.search := null;
    end if;
    if p_lane.place = 0 and not p_all and not howdah._may_be_due(p_lane, p_now) then
        return;
    elsif p_walk.groups is null then
        tids := case p_lane.place when 1 then howdah._look_nonpersistent(p_lane, p_want, p_all)
            else howdah._look_parked(p_lane, p_want, p_now, p_all) end;
        return;
    elsif p_lane.place = 0 then
        perform howdah._return_leases(p_lane.destination_id, p_want + 1000, p_now);
    end if;
    select array_agg(w.key), array_agg(w.key) filter (where w.first) into v_keys, firsts
    from howdah._walk(p_lane, p_walk, p_want, p_now, p_all) w;
    if p_lane.place > 0 and p_walk.groups <> 'none' and v_keys is not null
       and (select pg_sequence_last_value(d.failing) is not null from howdah.destinations d
           where d.id = p_lane.destination_id) then
        positions := howdah._without_waiting(p_lane, v_keys, p_now);
        parked := cardinality(positions) < cardinality(v_keys);
        v_keys := positions;
    end if;
    positions := case when p_lane.place = 2 then v_keys end;
    if p_lane.place = 1 then
        tids := array(select n.ctid from howdah.msgs_nonpersistent n
                      where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank
                        and n.seq between v_keys[1] and v_keys[cardinality(v_keys)] and n.seq = any (v_keys)
                      order by n.seq);
    elsif p_lane.place = 0 then
        tids := array(select p.ctid from howdah.parked p
                      where p.ctid = any (howdah._parked_rows(p_lane.destination_id, v_keys))
                      order by p.due_at, p.seq);
    end if;
end
$$;
