-- howdah._may_change(p_schedule): whether the caller may cancel, pause or replace a schedule.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._may_change(p_schedule howdah.schedules) returns boolean
language sql stable
as $$
    select howdah._has_role(p_schedule.created_by) or howdah._has_right(p_schedule.destination_id, 'admin')
$$;
