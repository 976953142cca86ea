-- howdah._walk_from(p_lane, p_walk, p_all): the position behind which a walk through ready messages begins.
--
-- Returns  bigint.
-- Role     internal
--
-- When a walk's head is recorded, nothing lies at or before it, not even a message of an open transaction
-- (howdah._walk_note). The exception is a selector's head in a queue without groups, turns or strict order, which may
-- pass uncommitted messages.
--
-- Messages put there nevertheless (a lease given back, a message retried) are searched for in steps, as in
-- howdah._search. A step covers 2,000 positions near the head, and more where a large batch came back; then it goes on
-- from a cursor. The head goes back to what was found. p_all: 2 ms of such steps. Without hints the walk starts at the
-- beginning.
create or replace function howdah._walk_from(p_lane howdah.lanes, p_walk howdah.walk, p_all boolean) returns bigint
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_unmarked boolean;
    v_head bigint;
    v_tail bigint;
    v_low bigint;
    v_back bigint;
    v_start bigint;
    v_found bigint;
    v_wrapped boolean := false;
begin
    if p_lane.head is null then
        return 0;
    end if;
    -- Read the mark first: heads are reset before it is set.
    v_unmarked := howdah._hint(to_regclass('howdah.mark_' || p_lane.destination_id)) >> 32 = 0;
    v_head := howdah._hint(p_lane.head);
    if v_head > 0 and v_unmarked and (p_walk.selector is null
        or (select howdah._is_walked(d) from howdah.destinations d where d.id = p_lane.destination_id)) then
        return 0;  -- a claim or a selector set it when the queue was plain
    elsif v_head = 0 or not p_all and not howdah._is_due(howdah._hint(p_lane.search), howdah._pace(v_begun)) then
        return v_head;
    end if;
    v_tail := (select howdah._hint(d.positions) from howdah.destinations d where d.id = p_lane.destination_id);
    if v_head > v_tail then
        v_head := setval(p_lane.head, v_tail);
    end if;
    v_low := greatest(v_head - 2000, 0);
    v_back := howdah._hint(p_lane.search) >> 21;
    v_start := v_back;
    -- others need not look at the same time
    perform howdah._remember(p_lane.search, v_back * 2, howdah._pace(v_begun) - 50, false);
    p_walk.share := null;
    loop
        v_found := (select r.seq from howdah._walk_rows(p_lane, p_walk, v_low, v_head, null, 1, null) r);
        exit when v_found is null or v_found > v_low + 64 or v_low = 0 or v_low < v_head - 131072;
        v_low := greatest(v_head - 8 * (v_head - v_low), 0);
    end loop;
    while v_found is null and v_low > 0 loop
        if v_back >= v_low then
            exit when v_wrapped;
            v_back := 0;
            v_wrapped := true;
        end if;
        v_found := (select r.seq from howdah._walk_rows(p_lane, p_walk, v_back, least(v_back + 4096, v_low), null, 1,
            null) r);
        v_back := coalesce(v_found - 1, least(v_back + 4096, v_low));
        exit when v_wrapped and v_back >= v_start
            or clock_timestamp() - v_begun > case when p_all then interval '2 ms' else interval '500 us' end;
    end loop;
    if v_found is not null then
        v_head := case when howdah._hint(p_lane.head) >= v_found then setval(p_lane.head, v_found - 1)
            else howdah._hint(p_lane.head) end;
    end if;
    perform howdah._remember(p_lane.search, v_back * 2, howdah._pace(v_begun), v_found is not null);
    return v_head;
end
$$;
