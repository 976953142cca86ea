-- howdah._may_be_due(p_lane, p_now): whether a look for due messages in a lane of parked ones may find any.
--
-- Returns  boolean.
-- Role     internal
--
-- The index's first entry answers where a look from the beginning is fast. Where dead rows make it slow, the lane gets
-- a head, from which howdah._look_parked goes on.
create or replace function howdah._may_be_due(p_lane howdah.lanes, p_now timestamptz) returns boolean
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_search bigint := howdah._hint(p_lane.search);
    v_head bigint := howdah._hint(p_lane.head);
    v_after timestamptz := '-infinity';
begin
    if v_head > 1 then
        if howdah._is_due(v_search, howdah._pace(v_begun)) then
            return true;
        end if;
        v_after := howdah._from_microseconds(v_head);
    end if;
    perform from howdah.parked p
    where p.destination_id = p_lane.destination_id and p.rank = p_lane.rank and p.due_at <= p_now
      and (p.due_at, p.seq) > (v_after, case when v_head > 1 then (v_search >> 20) - 16 else 0 end)
    order by p.due_at, p.seq limit 1;  -- without the order, a plan may walk all rows by number
    if found or howdah._has_ended_lease(p_lane, p_now, v_after) then
        return true;
    elsif v_head <= 1 and p_lane.head is not null then
        if clock_timestamp() - v_begun > interval '500 us' then
            perform setval(p_lane.head, case when v_head = 1 then howdah._microseconds(p_now) else 1 end);
            perform howdah._remember(p_lane.search, 0, howdah._pace(v_begun), false);
        elsif v_head = 1 then
            perform setval(p_lane.head, 0);
        end if;
    end if;
    return false;
end
$$;
