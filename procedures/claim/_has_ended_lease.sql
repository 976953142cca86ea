-- howdah._has_ended_lease(p_lane, p_now, p_after): whether a lease of messages of a lane's rank has ended since about a
-- given time, and still has a record.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._has_ended_lease(
    p_lane howdah.lanes, p_now timestamptz, p_after timestamptz
) returns boolean
language plpgsql volatile
as $$
begin
    return exists (select from howdah.leases l
                   where l.destination_id = p_lane.destination_id and l.rank = p_lane.rank
                     and l.until <= p_now and l.until > p_after - interval '1 ms');
end
$$;
