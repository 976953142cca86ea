-- howdah._walk_lock(p_lane, p_keys, p_want, p_now): lock the first free ones among some messages of a lane.
--
-- Returns  up to p_want keys in order.
-- Role     internal
create or replace function howdah._walk_lock(
    p_lane howdah.lanes, p_keys bigint[], p_want integer, p_now timestamptz
) returns bigint[]
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
begin
    if p_lane.place = 2 then
        return array(
            select m.seq from howdah.msgs m
            where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
              and m.seq between p_keys[1] and p_keys[cardinality(p_keys)] and m.seq = any (p_keys)
            order by m.seq limit p_want for update skip locked);
    elsif p_lane.place = 1 then
        return array(
            select n.seq from howdah.msgs_nonpersistent n
            where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank
              and n.seq between p_keys[1] and p_keys[cardinality(p_keys)] and n.seq = any (p_keys)
            order by n.seq limit p_want for update skip locked);
    end if;
    return array(
        select p.message_id from howdah.parked p
        where p.ctid = any (howdah._parked_rows(p_lane.destination_id, p_keys)) and p.due_at <= p_now
        order by p.due_at, p.seq limit p_want for update skip locked);
end
$$;
