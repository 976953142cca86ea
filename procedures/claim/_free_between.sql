-- howdah._free_between(p_lane, p_after, p_upto, p_want): the first free ready or non-persistent messages between two
-- positions of a lane.
--
-- Returns  up to p_want positions, ascending and locked; empty if there are none.
-- Role     internal
create or replace function howdah._free_between(
    p_lane howdah.lanes, p_after bigint, p_upto bigint, p_want integer
) returns bigint[]
language plpgsql volatile
as $$
begin
    if p_lane.place = 2 then
        return array(
            select m.seq from howdah.msgs m
            where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_after
              and m.seq <= p_upto
            order by m.seq limit p_want for update skip locked);
    end if;
    return array(
        select n.seq from howdah.msgs_nonpersistent n
        where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq > p_after and n.seq <= p_upto
          and n.boot = pg_postmaster_start_time()
        order by n.seq limit p_want for update skip locked);
end
$$;
