-- howdah._is_listed(p_lane, p_walk): whether a walk takes what a selector's looks found ahead.
--
-- Returns  boolean: the selector has hints in a lane of ready messages, the queue promises no order, and the caller
--          sees what others commit.
-- Role     internal
create or replace function howdah._is_listed(p_lane howdah.lanes, p_walk howdah.walk) returns boolean
language plpgsql volatile
as $$
begin
    return p_lane.head is not null and p_lane.place = 2 and p_walk.condition is not null and p_walk.groups = 'none'
        and p_walk.share is null and current_setting('transaction_isolation') like 'read %'
        and not (select howdah._is_walked(d) from howdah.destinations d where d.id = p_lane.destination_id);
end
$$;
