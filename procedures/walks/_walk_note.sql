-- howdah._walk_note(p_lane, p_walk, p_from, p_first, p_tail, p_cost): record up to where walks need not look again.
--
-- Role     internal
--
-- p_first: the first message found; NULL: none. p_tail: the last position given out before that look. What is recorded
-- lies before what was settled (howdah._seen_up_to) when the look is repeated.
--
-- A transaction from which messages are hidden records nothing (howdah._hides_nothing).
--
-- In a queue in which a selector promises no order, the last 64 positions may belong to transactions about to commit. A
-- selector gets hints of its own once a look has cost more than 2 ms; that look records how far it came.
create or replace function howdah._walk_note(
    p_lane howdah.lanes, p_walk howdah.walk, p_from bigint, p_first bigint, p_tail bigint, p_cost interval
) returns void
language plpgsql volatile
as $$
declare
    v_sees_all boolean := howdah._hides_nothing();
    v_dear boolean := p_cost > interval '300 us';
    v_numberless boolean;
    v_tail bigint;
    v_settled bigint;
    v_to bigint;
    v_mark regclass := to_regclass('howdah.mark_' || p_lane.destination_id);
    v_before bigint := howdah._hint(v_mark);
begin
    if p_lane.head is null and p_walk.selector is not null and p_cost > interval '2 ms' then
        perform howdah._add_selection(p_lane.destination_id, p_lane.rank, p_walk);
        p_lane := howdah._walked_lane(p_lane, p_walk);
    end if;
    if p_lane.head is null or p_first <= p_from + 16 or not v_sees_all then
        return;
    end if;
    v_numberless := pg_current_xact_id_if_assigned() is null;  -- before the last position is read
    v_tail := (select howdah._hint(d.positions) from howdah.destinations d where d.id = p_lane.destination_id);
    v_settled := howdah._seen_up_to(p_lane.destination_id, v_dear);
    if v_settled is null then
        v_to := coalesce(p_first - 1, p_tail - 64);
    elsif v_settled > p_from + 15 then
        p_walk.share := null;
        v_to := least(v_settled, (select r.seq - 1
            from howdah._walk_rows(p_lane, p_walk, p_from, v_settled, null, 1, null) r));
    end if;
    if v_to > p_from + 15 then
        perform howdah._advance(p_lane.head, v_to);
        if howdah._hint(v_mark) <> v_before then
            -- Meanwhile a message may have come back before that (howdah._walk_back).
            perform setval(p_lane.head, least(p_from, howdah._mark_position(howdah._hint(v_mark), d.positions)))
            from howdah.destinations d where d.id = p_lane.destination_id;
        end if;
    end if;
    if v_tail > v_settled + 15 then
        perform howdah._set_mark(p_lane.destination_id, v_tail, v_settled, v_numberless, v_dear);
    end if;
end
$$;
