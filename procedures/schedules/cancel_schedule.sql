-- howdah.cancel_schedule(schedule_id): let a schedule, and the series that it began, fire no more.
--
-- Raises   HD010 called out of a maintenance command; HD029 there is no such schedule, or it is somebody else's.
-- Role     howdah_producer howdah_admin
--
-- A scheduler that is just firing it is waited for. What was sent stays sent.
create or replace function howdah.cancel_schedule(schedule_id bigint) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._end_schedule(howdah._own_schedule(schedule_id), 'cancelled');
end
$$;
