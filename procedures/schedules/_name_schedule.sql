-- howdah._name_schedule(p_id, p_name): give a new schedule its name, and end the one that has it.
--
-- Returns  its number (bigint). If the older schedule has the same definition, the older one's number; the new schedule
--          is then deleted.
-- Raises   HD029 the schedule of that name belongs to somebody else.
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
    -- One that has ended counts, too: applications declare theirs at each start, and it would fire at each. But one
    -- that was only delayed counts from the call.
    if v_old.id is not null and howdah._schedule_definition(v_old) = howdah._schedule_definition(v_new)
       and not (v_old.state = 'ended' and howdah._is_only_delayed(v_old)) then
        delete from howdah.schedules s where s.id = p_id;
        return v_old.id;
    elsif v_old.id is not null then
        perform howdah._end_schedule(v_old, 'cancelled');
        perform howdah._record_schedule(v_old, howdah._destination_name(v_old.destination_id), 'dropped');
    end if;
    update howdah.schedules s set name = p_name where s.id = p_id returning s.* into v_new;
    perform howdah._record_schedule(v_new, howdah._destination_name(v_new.destination_id), 'created');
    return p_id;
end
$$;
