-- howdah._next_positions(p_lane, p_way, p_want, p_held, p_all): the next positions of ready messages in a lane, found
-- in one of several ways.
--
-- Returns  one row: up to p_want positions, ascending (NULL or empty: none), and whether their messages are locked.
--          Positions that are not locked were drawn by nextval. They are the caller's alone, may be empty, and are
--          taken under xmax = 0. Only drawn positions may not ascend: another call may put the head back between two
--          draws.
-- Role     internal
--
-- p_way is back, draw, redraw or head. The callers go these ways in order while they want more. back: what came back
-- behind the head, if a look is due; with p_all at once and everywhere. draw, then redraw three times: the next
-- positions, under a backlog. head: what lies from the head on. It begins 16 positions before the head, unless p_held
-- says that the caller has messages up to that position.
create or replace function howdah._next_positions(
    p_lane howdah.lanes, p_way text, p_want integer, p_held bigint, p_all boolean,
    out positions bigint[], out locked boolean
) returns record
language plpgsql volatile
as $$
declare
    v_head bigint := coalesce(pg_sequence_last_value(p_lane.head), 0);
    v_tail bigint;
    v_back bigint := v_head;
    v_pace bigint;
    v_most bigint;
begin
    locked := p_way in ('back', 'head');
    if p_lane.head is null and p_way <> 'head' then
        return;
    end if;
    v_tail := (select coalesce(pg_sequence_last_value(d.positions), 0) from howdah.destinations d
        where d.id = p_lane.destination_id);
    if not locked then
        v_most := least(p_want, v_tail - v_head - 64);
        if v_most > 0 then
            positions := array(select nextval(p_lane.head) from generate_series(1, v_most));
        end if;
        return;
    end if;
    if v_head > v_tail then
        v_head := setval(p_lane.head, v_tail);
        v_back := v_head;
    end if;
    if p_way = 'back' and p_all then
        positions := howdah._search(p_lane, v_head, p_want, true);
        return;
    elsif p_way = 'back' then
        v_pace := howdah._pace(clock_timestamp());
        if v_tail > v_head + 64 then
            -- Under a backlog the last 256 positions belong to tickets, some of which are in use. Where receives are
            -- rare, none are.
            perform from howdah.msgs m
            where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq = v_head and m.xmax <> 0
            for update skip locked;
            if not found and not howdah._is_overdue(pg_sequence_last_value(p_lane.search), v_pace) then
                v_back := v_head - 256;
            elsif found then
                v_pace := null;
            end if;
        end if;
        if v_pace is null or howdah._is_due(pg_sequence_last_value(p_lane.search), v_pace) then
            positions := howdah._search(p_lane, v_back, p_want, false, v_head - v_back);
        end if;
        return;
    end if;
    positions := array(
        select m.seq from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq > case when p_held is null then v_head - 16 else greatest(v_head, p_held) end
        order by m.seq limit p_want for update skip locked);
    if p_lane.head is null then
        return;
    elsif cardinality(positions) > 0 and positions[1] <= v_head then
        positions := howdah._search(p_lane, greatest(v_head, positions[cardinality(positions)]), p_want, false);
        v_back := positions[cardinality(positions)];
    elsif cardinality(positions) < p_want and v_tail - 64 > coalesce(positions[cardinality(positions)], v_head) then
        -- This is a gap, or positions of other lanes. The last 64 may belong to transactions about to commit.
        v_back := v_tail - 64;
    else
        v_back := positions[cardinality(positions)];
    end if;
    if v_back > v_head then
        perform howdah._advance(p_lane.head, v_back);
    end if;
end
$$;
