-- howdah.cancel_schedule(schedule_id): cancel a schedule, and the series that it began.
--
-- Raises   HD010 called from a maintenance command; HD029 there is no such schedule, or it is somebody else's; HD045
--          the master of changes is away.
-- Role     howdah_producer howdah_admin
--
-- The call waits for a scheduler that is firing it. Messages already sent stay sent.
-- The act is in howdah.list_acts, with the setting howdah.reason.
create or replace function howdah.cancel_schedule(schedule_id bigint) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_schedule howdah.schedules := howdah._own_schedule(schedule_id);
begin
    perform howdah._end_schedule(v_schedule, 'cancelled');
    perform howdah._record_schedule(v_schedule, howdah._destination_name(v_schedule.destination_id), 'dropped');
    perform howdah._record_schedule_act(v_schedule, 'cancelled');
end
$$;
