-- howdah.fire_schedule(schedule_id, reason): make one firing of a schedule now, beside those that it has planned.
--
-- Returns  the id of the message that was sent (bigint); NULL: it began a series.
-- Raises   HD001 its destination was dropped; HD010 its creator may no longer send there, or called from a maintenance
--          command; HD029 there is no such schedule, or it is somebody else's; HD005, HD006, HD007, HD008, HD017,
--          HD018, HD025, HD027, HD039, HD040 as howdah.send; HD045 the master of changes is away; HD049 a bridge with a
--          transformation needs READ COMMITTED (docs/transformations.md); HD050 a body does not keep to the contract
--          (docs/contracts.md).
-- Role     howdah_producer howdah_admin
--
-- The schedule goes on as it was: its next time, its state and its repeats stay. A schedule that is paused, has failed
-- or has ended fires, too. The act is in howdah.list_acts as fired, with the message.
create or replace function howdah.fire_schedule(schedule_id bigint, reason text default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_schedule howdah.schedules := howdah._own_schedule(schedule_id);
    v_at timestamptz := howdah.now();
    v_message_id bigint;
begin
    perform howdah._refuse_maintenance();
    -- Planned times differ by whole milliseconds. No firing by hand may have the time of one, for that is a key.
    while extract(microseconds from v_at)::bigint % 1000
        = extract(microseconds from coalesce(v_schedule.next_at, 'epoch'))::bigint % 1000
        or exists (select from howdah.schedule_runs r where r.schedule_id = v_schedule.id and r.planned_at = v_at)
    loop
        v_at := v_at - interval '1 microsecond';
    end loop;
    v_schedule.state := 'active';  -- for the series that it may begin
    v_message_id := howdah._fire(v_schedule, v_at);
    update howdah.schedules s set fired = s.fired + 1, last_fired_at = howdah.now() where s.id = v_schedule.id;
    perform howdah._record_act('fired', v_schedule.destination_id, array_remove(array[v_message_id], null), null,
        concat_ws(': ', 'schedule ' || coalesce(v_schedule.name, v_schedule.id::text), fire_schedule.reason));
    return v_message_id;
end
$$;
