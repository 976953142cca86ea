-- howdah._search(p_lane, p_head, p_want, p_deep, p_tickets): make one step of the search for ready or non-persistent
-- messages that came back behind the head.
--
-- Returns  positions of up to p_want messages, ascending and locked; NULL or empty if none were found.
-- Role     internal
--
-- A rollback, a dead worker or a late commit brings messages back. Nearly all of them lie in the 2,000 positions before
-- the head, which are searched first; more are searched where a large batch came back.
--
-- If nothing lies there, the search continues from the cursor; in one step of eight it begins there. It moves by 4,096
-- positions for half a millisecond, round and round. 4,096 positions take 0.6 ms if each is a dead row that a held
-- snapshot keeps.
--
-- Behind a large batch, the cursor follows what is taken. So the search does not walk again over the rows consumed
-- before.
--
-- p_deep: search until once around, or for 2 ms. p_tickets: that many positions after p_head belong to tickets that may
-- be in use. It looks at their messages only if a transaction held and released them (xmax is set).
create or replace function howdah._search(
    p_lane howdah.lanes, p_head bigint, p_want integer, p_deep boolean, p_tickets bigint default 0
)
returns bigint[]
language plpgsql volatile
as $$
declare
    v_begun bigint := howdah._pace(clock_timestamp());
    v_hint bigint := howdah._hint(p_lane.search) >> 20;
    v_back bigint := v_hint >> 1;
    v_draining boolean := v_hint & 1 = 1 and v_back between 1 and p_head;
    v_low bigint := greatest(p_head - 2000, 0);
    v_first bigint;
    v_around record;
    v_found bigint[];
begin
    if v_draining then
        -- It is free again: its taker rolled back, and the oldest message of the batch must be first.
        if cardinality(howdah._free_between(p_lane, v_back - 1, v_back, 1)) = 0 then
            v_found := howdah._free_between(p_lane, v_back, least(v_back + 16384, p_head), p_want);
        end if;
    elsif random() < 0.125 then
        select * into v_around from howdah._search_around(p_lane, v_back, v_low, p_want, interval '500 us');
        v_found := v_around.met;
        v_back := v_around.back;
    end if;
    v_draining := coalesce(cardinality(v_found), 0) > 0;
    if v_draining and cardinality(v_found) < p_want then
        v_found := v_found || howdah._free_between(p_lane, v_found[cardinality(v_found)], p_head,
            p_want - cardinality(v_found));
    elsif not v_draining then
        loop
            v_first := howdah._first_between(p_lane, v_low, p_head);
            -- A message just above the lower end means that a large batch came back, whose oldest messages must be
            -- first.
            exit when v_first is null or v_first > v_low + 64 or v_low = 0 or v_low < p_head - 131072;
            v_low := greatest(p_head - 8 * (p_head - v_low), 0);
        end loop;
        if v_first is not null then
            v_found := howdah._free_between(p_lane, v_first - 1, p_head, p_want);
            v_draining := v_low < p_head - 2000 and coalesce(cardinality(v_found), 0) > 0;
        end if;
        if coalesce(cardinality(v_found), 0) = 0 and p_tickets > 0 then
            v_found := array(
                select m.seq from howdah.msgs m
                where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
                  and m.seq > p_head and m.seq <= p_head + p_tickets and m.xmax <> 0
                order by m.seq limit p_want for update skip locked);
        end if;
        if coalesce(cardinality(v_found), 0) = 0 then
            select * into v_around
            from howdah._search_around(p_lane, v_back, v_low, p_want,
                case when p_deep then interval '2 ms' else interval '500 us' end);
            v_found := v_around.met;
            v_back := v_around.back;
            v_draining := coalesce(cardinality(v_found), 0) > 0;
        end if;
    end if;
    if v_draining then
        v_back := v_found[cardinality(v_found)];
    end if;
    perform howdah._remember(p_lane.search, v_back * 2 + v_draining::integer, v_begun,
        coalesce(cardinality(v_found), 0) > 0);
    return v_found;
end
$$;
