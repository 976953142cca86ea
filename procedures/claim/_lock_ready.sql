-- howdah._lock_ready(p_lane, p_positions): lock the ready messages at some positions that are free.
--
-- Returns  their positions (bigint[]), ascending.
-- Role     internal
create or replace function howdah._lock_ready(p_lane howdah.lanes, p_positions bigint[]) returns bigint[]
language sql volatile
as $$
    select array(
        select m.seq from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
        order by m.seq for update skip locked)
$$;
