-- howdah._first_between(p_lane, p_after, p_upto): the first ready or non-persistent message between two positions of a
-- lane, free or not.
--
-- Returns  its position, not locked; NULL if there is none.
-- Role     internal
create or replace function howdah._first_between(p_lane howdah.lanes, p_after bigint, p_upto bigint) returns bigint
language plpgsql volatile
as $$
begin
    if p_lane.place = 2 then
        return (select m.seq from howdah.msgs m
                where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_after
                  and m.seq <= p_upto
                order by m.seq limit 1);
    end if;
    return (select n.seq from howdah.msgs_nonpersistent n
            where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq > p_after
              and n.seq <= p_upto
              and n.boot = pg_postmaster_start_time()
            order by n.seq limit 1);
end
$$;
