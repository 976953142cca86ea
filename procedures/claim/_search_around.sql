-- howdah._search_around(p_lane, p_back, p_low, p_want, p_limit): continue the search from the cursor, up to the lower
-- end of the part that is searched every time.
--
-- Returns  what was found, as howdah._search, and the cursor's new place.
-- Role     internal
--
-- It ends when something is found, when it has been once around, or when p_limit is over.
create or replace function howdah._search_around(
    p_lane howdah.lanes, p_back bigint, p_low bigint, p_want integer, p_limit interval, out met bigint[],
    out back bigint
) returns record
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_high bigint;
    v_wrapped boolean := false;
begin
    back := p_back;
    while coalesce(cardinality(met), 0) = 0 loop
        if back >= p_low then
            exit when v_wrapped or p_low = 0;
            back := 0;
            v_wrapped := true;
        end if;
        v_high := least(back + 4096, p_low);
        met := howdah._free_between(p_lane, back, v_high, p_want);
        back := case when cardinality(met) > 0 then met[1] - 1 else v_high end;
        exit when v_wrapped and back >= p_back or clock_timestamp() - v_begun > p_limit;
    end loop;
end
$$;
