-- howdah.cancel_schedules(queue, next_from, next_until): cancel the caller's schedules of a queue or topic whose next
-- firing lies in a range of time.
--
-- Returns  the number of schedules cancelled (bigint). The range includes its ends; NULL means open.
-- Raises   HD001 no such queue; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_producer howdah_admin
--
-- An administrator of the queue cancels everybody's. This is ActiveMQ's REMOVEALL with ACTION_START_TIME and
-- ACTION_END_TIME. For delayed messages, use howdah.cancel_delayed_range.
create or replace function howdah.cancel_schedules(
    queue text, next_from timestamptz default null, next_until timestamptz default null
)
returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'send');
    v_schedule howdah.schedules;
    v_count bigint := 0;
begin
    for v_schedule in
        select s.* from howdah.schedules s
        where s.destination_id = v_destination.id and s.state in ('active', 'paused', 'failed')
          and (s.next_at < next_from) is not true and (s.next_at > next_until) is not true
          and (s.next_at is not null or next_from is null and next_until is null)
        order by s.id for no key update
    loop
        if howdah._may_change(v_schedule) then
            perform howdah._end_schedule(v_schedule, 'cancelled');
            perform howdah._record_schedule(v_schedule, v_destination.name, 'dropped');
            perform howdah._record_schedule_act(v_schedule, 'cancelled');
            v_count := v_count + 1;
        end if;
    end loop;
    return v_count;
end
$$;
