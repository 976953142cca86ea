-- howdah._look_parked(p_lane, p_want, p_now, p_all): find the free parked messages that are due, for a receive.
--
-- Returns  their row identifiers (tid[]), locked; NULL if none were found.
-- Role     internal
--
-- It looks from the beginning while that takes under half a millisecond, plus 6 us per message found (20 us if a lease
-- has ended). If dead rows make it slower twice in a row, it looks from behind the message taken last. A head of 1
-- records the first slow look, which may be chance.
--
-- The head holds the due time of the message taken last, in microseconds. The hint search holds its position. A due
-- time before 1970, which a reader of pgmq may set, counts as 2. It looks from the beginning again if one of the last
-- messages is free again, or a step is due. A step is due after 20 times what the last one took, or after 2 s. With
-- p_all it may come up to 20 ms early. A lane without hints is always looked at from the beginning.
create or replace function howdah._look_parked(
    p_lane howdah.lanes, p_want integer, p_now timestamptz, p_all boolean
) returns tid[]
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_search bigint := howdah._hint(p_lane.search);
    v_head bigint := howdah._hint(p_lane.head);
    v_after timestamptz := '-infinity';
    v_ended boolean;
    v_met record;
begin
    if v_head > 1 and not howdah._is_due(v_search, howdah._pace(v_begun) + case when p_all then 20 else 0 end) then
        v_after := howdah._from_microseconds(v_head);
    elsif v_head > 1 then
        -- others need not look at the same time
        perform howdah._remember(p_lane.search, v_search >> 20, howdah._pace(v_begun) - 1000, false);
    end if;
    loop
        v_ended := howdah._has_ended_lease(p_lane, p_now, v_after);
        if v_ended then
            perform howdah._return_leases(p_lane.destination_id, p_want, p_now, v_after - interval '1 ms');
        end if;
        select array_agg(f.ctid) as tids, count(*) as number, (array_agg(f.due_at))[1] as first_due,
            (array_agg(f.seq))[1] as first_seq, (array_agg(f.due_at))[count(*)] as due_at,
            (array_agg(f.seq))[count(*)] as seq
        into v_met
        from (select p.ctid, p.due_at, p.seq from howdah.parked p
              where p.destination_id = p_lane.destination_id and p.rank = p_lane.rank and p.due_at <= p_now
                and (p.due_at, p.seq) > (v_after, case when v_after > '-infinity' then (v_search >> 20) - 16 else 0 end)
                and (p.boot is null or p.boot = pg_postmaster_start_time())
              order by p.due_at, p.seq limit p_want for update skip locked) f;
        exit when v_after = '-infinity' or v_met.number = 0
            or (v_met.first_due, v_met.first_seq) > (v_after, v_search >> 20);
        v_after := '-infinity';
    end loop;
    if p_lane.head is null then
        null;
    elsif v_after > '-infinity' then
        if v_met.number > 0 then
            perform setval(p_lane.head, greatest(howdah._microseconds(v_met.due_at), 2));
            perform setval(p_lane.search, (v_met.seq << 20) | (howdah._hint(p_lane.search) & 1048575));
        end if;
    elsif clock_timestamp() - v_begun > interval '500 us' + v_met.number * (case when v_ended then interval '20 us'
        else interval '6 us' end) then
        perform setval(p_lane.head,
            case when v_head > 0 then greatest(howdah._microseconds(coalesce(v_met.due_at, p_now)), 2) else 1 end);
        perform howdah._remember(p_lane.search, coalesce(v_met.seq, 0), howdah._pace(v_begun), false);
    elsif v_head > 1 and v_met.number = p_want and v_met.due_at < howdah._from_microseconds(v_head) then
        -- This look was fast, because what came back lies before the dead rows. The next look is a step, too; others
        -- meanwhile go on from the head.
        perform howdah._remember(p_lane.search, howdah._hint(p_lane.search) >> 20, howdah._pace(v_begun), true);
    elsif v_head > 0 then
        perform setval(p_lane.head, 0);
    end if;
    return v_met.tids;
end
$$;
