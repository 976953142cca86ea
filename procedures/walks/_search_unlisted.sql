-- howdah._search_unlisted(p_lane, p_walk, p_upto, p_tail, p_want, p_all): search for selected messages that came back,
-- or were committed late, up to the position that a selector's looks have reached.
--
-- Returns  up to p_want positions, ascending and locked; NULL or empty if none were found, or no step is due.
-- Role     internal
--
-- Its steps are those of howdah._walk_from, but shorter: 1,024 positions, because each may cost microseconds. The last
-- 2,000 are looked at in each step only near the end of the queue, where late commits are. Messages that the looks
-- found themselves are left to howdah._take_listed. Messages in use are skipped.
create or replace function howdah._search_unlisted(
    p_lane howdah.lanes, p_walk howdah.walk, p_upto bigint, p_tail bigint, p_want integer, p_all boolean
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_most constant integer := 2000;  -- as many as a step has positions: what is listed must not hide what is behind
    v_begun timestamptz := clock_timestamp();
    v_head bigint := howdah._hint(p_lane.head);
    v_low bigint;
    v_from bigint;
    v_upto bigint;
    v_back bigint;
    v_start bigint;
    v_listed bigint[];
    v_rows bigint[];
    v_keys bigint[];
    v_found bigint[];
    v_wrapped boolean := false;
begin
    if p_upto <= 0 or not p_all and not howdah._is_due(howdah._hint(p_lane.search), howdah._pace(v_begun)) then
        return null;
    end if;
    v_back := howdah._hint(p_lane.search) >> 21;
    v_start := v_back;
    -- others need not look at the same time
    perform howdah._remember(p_lane.search, v_back * 2, howdah._pace(v_begun) - 50, false);
    v_listed := array(select s.seq from howdah.candidates c cross join unnest(c.seqs) s(seq)
                      where c.destination_id = p_lane.destination_id and c.digest = md5(p_walk.selector)::uuid
                        and c.rank = p_lane.rank and c.upto > v_head and s.seq > v_head);
    v_low := case when p_tail - p_upto < 4096 then greatest(p_upto - 2000, 0) else p_upto end;
    v_from := v_low;
    v_upto := p_upto;
    loop
        v_rows := case when v_upto > v_from then array(
            select r.seq from howdah._walk_rows(p_lane, p_walk, v_from, v_upto, null, v_most, null) r) end;
        v_keys := array(select r.seq from unnest(v_rows) r(seq) where r.seq <> all (v_listed) order by r.seq);
        if cardinality(v_keys) > 0 then
            v_found := howdah._walk_lock(p_lane, v_keys, p_want, null);
        end if;
        if v_from < v_low then
            v_back := coalesce(v_found[1] - 1, case when cardinality(v_rows) = v_most then v_rows[v_most] else v_upto
                end);
        end if;
        exit when cardinality(v_found) > 0 or v_low = 0 or v_from < v_low and (v_wrapped and v_back >= v_start
            or clock_timestamp() - v_begun > case when p_all then interval '2 ms' else interval '500 us' end);
        if v_back >= v_low then
            exit when v_wrapped;
            v_back := 0;
            v_wrapped := true;
        end if;
        v_from := v_back;
        v_upto := least(v_back + 1024, v_low);
    end loop;
    perform howdah._remember(p_lane.search, v_back * 2, howdah._pace(v_begun), cardinality(v_found) > 0);
    return v_found;
end
$$;
