-- howdah._record_schedule_act(p_schedule, p_act): record that an operator paused, resumed or cancelled a schedule.
--
-- Role     internal
--
-- An application that changes its own schedules is no operator, unless it gives a reason with the setting
-- howdah.reason.
create or replace function howdah._record_schedule_act(p_schedule howdah.schedules, p_act text) returns void
language plpgsql volatile
as $$
begin
    if p_schedule.created_by <> howdah._caller() or howdah._why() is not null
       or (select howdah._has_role(e.admin_role) from howdah.engine e) then
        perform howdah._record_act(p_act, p_schedule.destination_id, '{}', null,
            howdah._why('schedule ' || coalesce(p_schedule.name, p_schedule.id::text)));
    end if;
end
$$;
