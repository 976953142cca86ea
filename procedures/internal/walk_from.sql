-- howdah._walked_lane(p_lane, p_walk): a lane with the hints that a walk uses: its own, or those of the selector.
--
-- Returns  howdah.lanes; head and search are NULL where a selector has none (yet).
-- Role     internal
create or replace function howdah._walked_lane(p_lane howdah.lanes, p_walk howdah.walk) returns howdah.lanes
language plpgsql volatile
as $$
begin
    if p_walk.selector is not null then
        p_lane.search := null;
        p_lane.head := null;
        select s.head, s.search into p_lane.head, p_lane.search from howdah.selections s
        where s.destination_id = p_lane.destination_id and s.digest = md5(p_walk.selector)::uuid and s.rank = p_lane.rank and p_lane.place = 2;
    end if;
    return p_lane;
end
$$;

-- howdah._walk_from(p_lane, p_walk, p_all): behind which position a walk through ready messages begins.
--
-- Returns  bigint.
-- Role     internal
--
-- Nothing visible that the walk could take lies at or before a walk's head when it is noted, taken but uncommitted messages included, so a rollback
-- gives back nothing behind it. What comes back there all the same (late commits, messages put back) is searched for in steps, as
-- howdah._search does: 2,000 positions near the head, then on from a cursor; the head goes back to what was found. p_all: 2 ms of such steps. Without hints
-- it begins at the beginning.
create or replace function howdah._walk_from(p_lane howdah.lanes, p_walk howdah.walk, p_all boolean) returns bigint
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_head bigint;
    v_low bigint;
    v_back bigint;
    v_start bigint;
    v_found bigint;
    v_wrapped boolean := false;
begin
    if p_lane.head is null then
        return 0;
    end if;
    v_head := howdah._hint(p_lane.head);
    if v_head = 0 or not p_all and not howdah._is_due(howdah._hint(p_lane.search), howdah._pace(v_begun)) then
        return v_head;
    end if;
    v_low := greatest(v_head - 2000, 0);
    v_back := howdah._hint(p_lane.search) >> 21;
    v_start := v_back;
    perform howdah._remember(p_lane.search, v_back * 2, v_begun - interval '50 ms', false);  -- others need not look too meanwhile
    p_walk.share := null;
    v_found := (select r.seq from howdah._walk_rows(p_lane, p_walk, v_low, v_head, null, 1, null) r);
    while v_found is null and v_low > 0 loop
        if v_back >= v_low then
            exit when v_wrapped;
            v_back := 0;
            v_wrapped := true;
        end if;
        v_found := (select r.seq from howdah._walk_rows(p_lane, p_walk, v_back, least(v_back + 4096, v_low), null, 1, null) r);
        v_back := coalesce(v_found - 1, least(v_back + 4096, v_low));
        exit when v_wrapped and v_back >= v_start
            or clock_timestamp() - v_begun > case when p_all then interval '2 ms' else interval '500 us' end;
    end loop;
    if v_found is not null then
        v_head := setval(p_lane.head, v_found - 1);
    end if;
    perform howdah._remember(p_lane.search, v_back * 2, v_begun, v_found is not null);
    return v_head;
end
$$;

-- howdah._walk_note(p_lane, p_walk, p_from, p_first, p_tail, p_cost): note how far a walk need not look again.
--
-- Role     internal
--
-- p_first: the first message met; NULL: none up to p_tail, of which the last 64 may be those of transactions about to commit.
-- A selector gets hints of its own once a look has cost more than 2 ms, and that look notes where it came to.
create or replace function howdah._walk_note(
    p_lane howdah.lanes, p_walk howdah.walk, p_from bigint, p_first bigint, p_tail bigint, p_cost interval
) returns void
language plpgsql volatile
as $$
declare
    v_to bigint := coalesce(p_first - 1, p_tail - 64);
    v_clean boolean := pg_current_xact_id_if_assigned() is null;
begin
    if p_lane.head is null and p_walk.selector is not null and p_cost > interval '2 ms' then
        perform howdah._add_selection(p_lane.destination_id, p_lane.rank, p_walk);
        p_lane := howdah._walked_lane(p_lane, p_walk);
    end if;
    if p_lane.head is null then
        return;
    end if;
    if p_walk.share is not null and v_to > p_from then
        p_walk.share := null;
        v_to := coalesce((select r.seq - 1 from howdah._walk_rows(p_lane, p_walk, p_from, v_to, null, 1, null) r), v_to);
    end if;
    -- What a transaction deleted is hidden from itself, and may come back.
    if v_to > p_from + 15 then
        if not v_clean and current_setting('track_counts')::boolean then
            v_clean := pg_stat_get_xact_tuples_deleted('howdah.msgs'::regclass) = 0;
        end if;
        if v_clean then
            perform howdah._advance(p_lane.head, v_to);
        end if;
    end if;
end
$$;
