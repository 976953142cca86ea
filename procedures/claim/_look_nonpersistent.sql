-- howdah._look_nonpersistent(p_lane, p_want, p_all): find the free non-persistent messages for a receive.
--
-- Returns  their row identifiers (tid[]), locked; NULL or empty if none were found.
-- Role     internal
--
-- It looks from the beginning while that takes under half a millisecond, plus 6 us for each message found. If dead rows
-- make it slower twice in a row, it looks from the lane's head (howdah._look_from_head). A head of 1 records the first
-- slow look, which may be chance.
--
-- If a look finds nothing else, one in a hundred tries the beginning again, and returns to it if that is fast.
create or replace function howdah._look_nonpersistent(p_lane howdah.lanes, p_want integer, p_all boolean) returns tid[]
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_head bigint := howdah._hint(p_lane.head);
    v_met record;
begin
    if v_head > 1 and not (p_all and random() < 0.01) then
        return howdah._look_from_head(p_lane, v_head, p_want, p_all);
    end if;
    select array_agg(f.ctid) as tids, count(*) as number, max(f.seq) as seq into v_met
    from (select n.ctid, n.seq from howdah.msgs_nonpersistent n
          where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank
            and n.boot = pg_postmaster_start_time()
          order by n.seq limit p_want for update skip locked) f;
    if p_lane.head is null then
        null;
    elsif clock_timestamp() - v_begun < interval '500 us' + v_met.number * interval '6 us' then
        if v_head > 0 then
            perform setval(p_lane.head, 0);
        end if;
    elsif v_head = 0 then
        perform setval(p_lane.head, 1);
    elsif v_head = 1 then
        perform setval(p_lane.head, greatest(v_met.seq, 2));
        perform howdah._remember(p_lane.search, 0, howdah._pace(v_begun), false);
    end if;
    return v_met.tids;
end
$$;
