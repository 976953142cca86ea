-- howdah._next_positions(p_lane, p_way, p_want, p_drawn): the next positions of ready messages in a main lane, found in
-- one of the six ways of howdah.receive.
--
-- Returns  one row: up to p_want positions, ascending (NULL or empty: none), and whether their messages are locked.
--          Positions that are not locked were drawn by nextval. They are the caller's alone, may be empty, and are
--          taken under xmax = 0.
-- Role     internal
--
-- p_way 1: what came back behind the head, if a look is due. p_way 2 to 5: the next positions, under a backlog. p_way
-- 6: what lies from the head on. p_drawn: the caller has taken some messages already.
create or replace function howdah._next_positions(
    p_lane howdah.lanes, p_way integer, p_want integer, p_drawn boolean, out positions bigint[], out locked boolean
) returns record
language plpgsql volatile
as $$
declare
    v_head bigint := coalesce(pg_sequence_last_value(p_lane.head), 0);
    v_tail bigint := (select coalesce(pg_sequence_last_value(d.positions), 0) from howdah.destinations d
        where d.id = p_lane.destination_id);
    v_back bigint := v_head;
    v_pace bigint;
    v_most bigint;
begin
    if p_way between 2 and 5 then
        v_most := least(p_want, v_tail - v_head - 64);
        if v_most > 0 then
            locked := false;
            positions := array(select nextval(p_lane.head) from generate_series(1, v_most));
        end if;
        return;
    end if;
    locked := true;
    if v_head > v_tail then
        v_head := setval(p_lane.head, v_tail);
    end if;
    if p_way = 1 then
        v_pace := howdah._pace(clock_timestamp());
        if v_tail > v_head + 64 then
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
          and m.seq > v_head - case when p_drawn then 0 else 16 end
        order by m.seq limit p_want for update skip locked);
    if cardinality(positions) > 0 and positions[1] <= v_head then
        positions := howdah._search(p_lane, greatest(v_head, positions[cardinality(positions)]), p_want, false);
        v_back := positions[cardinality(positions)];
    elsif cardinality(positions) < p_want and v_tail - 64 > coalesce(positions[cardinality(positions)], v_head) then
        v_back := v_tail - 64;
    else
        v_back := positions[cardinality(positions)];
    end if;
    if v_back > v_head then
        perform howdah._advance(p_lane.head, v_back);
    end if;
end
$$;
