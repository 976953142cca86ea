-- howdah.pause_schedule(schedule_id): pause a schedule until howdah.resume_schedule.
--
-- Returns  true if it was active (boolean); otherwise nothing changes.
-- Raises   HD010 called from a maintenance command; HD029 there is no such schedule, or it is somebody else's; HD045
--          the master of changes is away.
-- Role     howdah_producer howdah_admin
--
-- Series that it began continue.
create or replace function howdah.pause_schedule(schedule_id bigint) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_schedule howdah.schedules := howdah._own_schedule(schedule_id);
begin
    update howdah.schedules s set state = 'paused', due_at = null, changed_at = howdah.now()
    where s.id = v_schedule.id and s.state = 'active';
    if found then
        perform howdah._record_schedule(v_schedule, howdah._destination_name(v_schedule.destination_id), 'altered',
            'paused');
        perform howdah._record_schedule_act(v_schedule, 'paused');
        return true;
    end if;
    return false;
end
$$;
