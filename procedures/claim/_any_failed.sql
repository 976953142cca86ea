-- howdah._any_failed(p_lane, p_positions): whether a message at one of some positions ever failed.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._any_failed(p_lane howdah.lanes, p_positions bigint[]) returns boolean
language sql volatile
as $$
    select exists (
        select from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
          and exists (select from howdah.poison_details p where p.message_id = m.message_id))
$$;
