-- howdah._next_position(p_lane): the next position of a ready message, in the first of the ways of
-- howdah._next_positions that has one.
--
-- Returns  the position (NULL: none) and whether its message is locked.
-- Role     internal
create or replace function howdah._next_position(
    p_lane howdah.lanes, out "position" bigint, out locked boolean
) returns record
language plpgsql volatile
as $$
begin
    for v_way in 1..6 loop
        select n.positions[1], n.locked into "position", locked
        from howdah._next_positions(p_lane, v_way, 1, null, false) n;
        exit when "position" is not null;
    end loop;
end
$$;
