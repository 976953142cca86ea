-- howdah._fire_due(p_schedule, p_times, p_next_at, p_error): fire a schedule for times that have come, and move it on.
--
-- Returns  the number of firings (bigint).
-- Raises   HD005 p_error, which becomes last_error like any other error of a firing.
-- Role     internal
create or replace function howdah._fire_due(
    p_schedule howdah.schedules, p_times timestamptz[], p_next_at timestamptz, p_error text
)
returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_times timestamptz[] := array(
        select t.at from unnest(p_times) t(at)
        where t.at <= v_now and (t.at > p_schedule.ends_at) is not true
          and (t.at < v_now - p_schedule.misfire_grace_ms * interval '1 millisecond') is not true
        order by t.at);
    v_count integer := cardinality(v_times);
begin
    if not p_schedule.catch_up and v_count > 1 then
        v_times := v_times[v_count:];
    end if;
    perform howdah._commit_needs(4);
    begin
        if p_error is not null then
            raise exception using errcode = 'HD005', message = p_error;
        end if;
        perform howdah._fire(p_schedule, t.at) from unnest(v_times) t(at);
    exception when others then
        update howdah.schedules s
        set last_error = left(sqlerrm, 1000), changed_at = case when v_class.lasting then v_now else s.changed_at end,
            state = case when v_class.lasting then 'failed' else s.state end,
            due_at = case when not v_class.lasting then v_now + interval '10 seconds' end
        from (select sqlstate in ('HD001', 'HD004', 'HD005', 'HD006', 'HD007', 'HD010', 'HD017', 'HD039',
                'HD050')
                  as lasting) v_class
        where s.id = p_schedule.id;
        return 0;
    end;
    p_next_at := case when (p_next_at > p_schedule.ends_at) is not true then p_next_at end;
    update howdah.schedules s
    set next_at = p_next_at, due_at = p_next_at, remaining = p_schedule.remaining, last_error = null,
        state = case when p_next_at is null then 'ended' else s.state end,
        changed_at = case when p_next_at is null then v_now else s.changed_at end,
        fired = s.fired + cardinality(v_times), last_fired_at = case when cardinality(v_times) > 0 then v_now
            else s.last_fired_at end,
        missed = p_schedule.missed + coalesce(cardinality(p_times), 0) - cardinality(v_times)
    where s.id = p_schedule.id;
    return cardinality(v_times);
end
$$;
