-- howdah._draw_next(p_lane, p_want): draw the next positions of a lane under a backlog, unless something came back.
--
-- Returns  p_want positions, ascending, as in howdah._next_positions; NULL if what came back must be looked for.
-- Role     internal
--
-- What came back lies before what nobody has taken yet. Most often it is what was taken last.
create or replace function howdah._draw_next(p_lane howdah.lanes, p_want integer) returns bigint[]
language plpgsql volatile
as $$
declare
    v_head bigint := coalesce(pg_sequence_last_value(p_lane.head), 0);
    v_hint bigint := coalesce(pg_sequence_last_value(p_lane.search), 0);
begin
    if howdah._is_due(v_hint, howdah._pace(clock_timestamp())) then
        if not howdah._nothing_came_back(p_lane.destination_id, p_lane.rank, v_head, true, p_lane.search, v_hint) then
            return null;
        end if;
    else
        perform from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq = v_head and m.xmax <> 0
        for update skip locked;
        if found then
            return null;
        end if;
    end if;
    return array(select nextval(p_lane.head) from generate_series(1, p_want));
end
$$;
