-- howdah._lock_drawn(p_lane, p_positions): lock the messages at positions that the caller has drawn.
--
-- Returns  their positions (bigint[]), ascending.
-- Role     internal
--
-- It leaves those that a transaction had before (xmax is set) to the search. They may include the caller's
-- own: another call may have put the head back, so that the caller drew its positions again.
create or replace function howdah._lock_drawn(p_lane howdah.lanes, p_positions bigint[]) returns bigint[]
language sql volatile
as $$
    select array(
        select m.seq from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
          and m.xmax = 0
        order by m.seq for update skip locked)
$$;
