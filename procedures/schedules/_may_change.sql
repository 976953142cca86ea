-- howdah._may_change(p_schedule): whether the caller may cancel, pause or replace a schedule.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._may_change(p_schedule howdah.schedules) returns boolean
language sql stable
as $$
    select exists (
        select from pg_roles r
        where (r.rolname = p_schedule.created_by or r.rolname in (
                select g.role_name from howdah.destination_grants g
                where g.destination_id = p_schedule.destination_id and g.verb = 'admin'))
          and howdah._has_role(r.rolname::text))
$$;
