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
                select g.role_name from howdah.destination_grants g where g.destination_id = p_schedule.destination_id and g.verb = 'admin'))
          and howdah._has_role(r.rolname::text))
$$;

-- howdah._own_schedule(p_id): a schedule that the caller may change: its maker, or an administrator of what it sends to.
--
-- Returns  the row of howdah.schedules, locked.
-- Raises   HD029 there is none, or it is somebody else's.
-- Role     internal
create or replace function howdah._own_schedule(p_id bigint) returns howdah.schedules
language plpgsql volatile
as $$
declare
    v_schedule howdah.schedules;
begin
    select s.* into v_schedule from howdah.schedules s where s.id = p_id and s.state <> 'cancelled' for no key update;
    if not found or not howdah._may_change(v_schedule) then
        raise exception using errcode = 'HD029',
            message = format('there is no schedule %s that role %s may change', coalesce(p_id::text, 'NULL'),
                quote_ident(howdah._caller())),
            hint = 'See howdah.list_schedules(). Its maker may, and who administers its queue.';
    end if;
    return v_schedule;
end
$$;

-- howdah._end_schedule(p_schedule, p_state): let a schedule, and the series it began, fire no more.
--
-- Role     internal
create or replace function howdah._end_schedule(p_schedule howdah.schedules, p_state text) returns void
language sql volatile
as $$
    update howdah.schedules s set state = p_state, due_at = null, next_at = null, changed_at = howdah.now()
    where (s.id = p_schedule.id or s.parent_id = p_schedule.id) and s.state in ('active', 'paused', 'failed', 'ended')
$$;

-- howdah._definition(p_schedule): what a schedule was made with, without what has become of it.
--
-- Returns  jsonb.
-- Role     internal
create or replace function howdah._definition(p_schedule howdah.schedules) returns jsonb
language sql stable
as $$
    select to_jsonb(p_schedule) - array['id', 'parent_id', 'name', 'next_at', 'due_at', 'created_at', 'changed_at', 'last_fired_at',
        'fired', 'missed',
        'remaining', 'state', 'created_by', 'last_error']
$$;

-- howdah._name_schedule(p_id, p_name): give a new schedule its name, in place of the one that has it.
--
-- Returns  its number; that of the older one if both are the same but for how far they are: then the new one is taken back (bigint).
-- Raises   HD029 the schedule of that name is not the caller's.
-- Role     internal
create or replace function howdah._name_schedule(p_id bigint, p_name text) returns bigint
language plpgsql volatile
as $$
declare
    v_old howdah.schedules;
    v_new howdah.schedules;
begin
    perform pg_advisory_xact_lock(howdah._lock_key('schedule', p_name));
    select o.* into v_old from howdah.schedules s cross join lateral howdah._own_schedule(s.id) o where s.name = p_name
        and s.state <> 'cancelled';
    select s.* into v_new from howdah.schedules s where s.id = p_id;
    if v_old.state in ('active', 'paused', 'failed') and howdah._definition(v_old) = howdah._definition(v_new) then
        delete from howdah.schedules s where s.id = p_id;
        return v_old.id;
    elsif v_old.id is not null then
        perform howdah._end_schedule(v_old, 'cancelled');
    end if;
    update howdah.schedules s set name = p_name where s.id = p_id;
    return p_id;
end
$$;
