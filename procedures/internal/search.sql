-- howdah._search(p_lane, p_head, p_want, p_deep): one step of the search for ready messages that came back behind the head.
--
-- Returns  positions of up to p_want messages, ascending, locked; NULL or empty if none were met.
-- Role     internal
--
-- What came back: a rollback's, a dead worker's, a late committer's. First the 2,000 positions before the head, where nearly
-- all of them are; then on from where the last step ended, by 4,096 positions (0.6 ms if every one is a dead row that a
-- held snapshot keeps) for half a millisecond, round and round. p_deep: until it has been once around, or for 2 ms.
create or replace function howdah._search(p_lane howdah.lanes, p_head bigint, p_want integer, p_deep boolean) returns bigint[]
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_limit interval := case when p_deep then interval '2 ms' else interval '500 us' end;
    v_back bigint := howdah._hint(p_lane.search) >> 20;
    v_start bigint := v_back;
    v_low bigint := greatest(p_head - 2000, 0);
    v_high bigint;
    v_wrapped boolean := false;
    v_first bigint;
    v_found bigint[];
begin
    loop
        select m.seq into v_first from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > v_low and m.seq <= p_head
        order by m.seq limit 1;
        -- A message just above the lower end: a large batch came back, and its oldest messages are to be first.
        exit when v_first is null or v_first > v_low + 64 or v_low = 0 or v_low < p_head - 131072;
        v_low := greatest(p_head - 8 * (p_head - v_low), 0);
    end loop;
    if v_first is not null then
        v_found := array(
            select m.seq from howdah.msgs m
            where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq >= v_first and m.seq <= p_head
            order by m.seq limit p_want for update skip locked);
    end if;
    while cardinality(coalesce(v_found, '{}')) = 0 loop
        if v_back >= v_low then
            exit when v_wrapped or v_low = 0;
            v_back := 0;
            v_wrapped := true;
        end if;
        v_high := least(v_back + 4096, v_low);
        v_found := array(
            select m.seq from howdah.msgs m
            where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > v_back and m.seq <= v_high
            order by m.seq limit p_want for update skip locked);
        v_back := case when cardinality(v_found) > 0 then v_found[1] - 1 else v_high end;
        exit when v_wrapped and v_back >= v_start or clock_timestamp() - v_begun > v_limit;
    end loop;
    perform howdah._remember(p_lane.search, v_back, v_begun, cardinality(v_found) > 0);
    return v_found;
end
$$;
