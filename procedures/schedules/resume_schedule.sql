-- howdah.resume_schedule(schedule_id): resume a schedule that was paused or has failed.
--
-- Returns  true if it was paused or had failed (boolean); otherwise nothing changes.
-- Raises   HD010 called from a maintenance command; HD029 there is no such schedule, or it is somebody else's; HD045
--          the master of changes is away.
-- Role     howdah_producer howdah_admin
--
-- It fires from the next time that lies ahead. Firings that fell into the pause are neither made up for nor counted,
-- and repeats are still to come.
create or replace function howdah.resume_schedule(schedule_id bigint) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_schedule howdah.schedules := howdah._own_schedule(schedule_id);
    v_now timestamptz := howdah.now();
    v_next timestamptz;
begin
    if v_schedule.state not in ('paused', 'failed') then
        return false;
    end if;
    v_next := case when v_schedule.cron is not null then null
        when v_schedule.next_at > v_now or v_schedule.period_ms is null then v_schedule.next_at
        else v_schedule.next_at + (1 + floor(extract(epoch
            from v_now - v_schedule.next_at) * 1000 / v_schedule.period_ms)::bigint)
            * v_schedule.period_ms * interval '1 millisecond' end;
    update howdah.schedules s
    set state = case when v_next > s.ends_at then 'ended' else 'active' end, next_at = v_next, changed_at = v_now,
        last_error = null, due_at = case when (v_next > s.ends_at) is not true then coalesce(v_next, v_now) end
    where s.id = v_schedule.id;
    perform howdah._record_schedule(v_schedule, howdah._destination_name(v_schedule.destination_id), 'altered',
        'active');
    perform howdah._record_schedule_act(v_schedule, 'resumed');
    return true;
end
$$;
