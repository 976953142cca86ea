-- howdah._fire_due(p_schedule, p_times, p_next_at, p_error): fire a schedule for times that have come, and set its next
-- time.
--
-- Returns  the number of firings (bigint).
-- Raises   HD005 p_error, which becomes last_error like any other error of a firing.
-- Role     internal
--
-- If the queue becomes full meanwhile, the firings that it has room for take place. The others are tried again later.
create or replace function howdah._fire_due(
    p_schedule howdah.schedules, p_times timestamptz[], p_next_at timestamptz, p_error text
)
returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_again timestamptz := v_now + interval '10 seconds';
    v_times timestamptz[] := array(
        select t.at from unnest(p_times) t(at)
        where t.at <= v_now and (t.at > p_schedule.ends_at) is not true
          and (t.at < v_now - p_schedule.misfire_grace_ms * interval '1 millisecond') is not true
        order by t.at);
    v_count integer := cardinality(v_times);
    v_passed integer := coalesce(cardinality(p_times), 0);
    v_at timestamptz;
    v_fired integer;
    v_refused text;
begin
    if not p_schedule.catch_up and v_count > 1 then
        v_times := v_times[v_count:];
        v_count := 1;
    end if;
    perform howdah._commit_needs(4);
    loop
        v_fired := 0;
        begin
            if p_error is not null then
                raise exception using errcode = 'HD005', message = p_error;
            end if;
            foreach v_at in array v_times[:v_count] loop
                perform howdah._fire(p_schedule, v_at);
                v_fired := v_fired + 1;
            end loop;
            exit;
        exception when others then
            if v_fired > 0 and sqlstate in ('HD018', 'HD027') then
                v_refused := sqlerrm;  -- if there are more of them than it holds, all of them would never fit
                v_count := v_fired;
                continue;
            end if;
            update howdah.schedules s
            set last_error = left(sqlerrm, 1000), changed_at = case when v_class.lasting then v_now
                    else s.changed_at end,
                state = case when v_class.lasting then 'failed' else s.state end,
                due_at = case when not v_class.lasting then v_again end
            from (select sqlstate in ('HD001', 'HD004', 'HD005', 'HD006', 'HD007', 'HD010', 'HD017', 'HD039',
                    'HD050')
                      as lasting) v_class
            where s.id = p_schedule.id;
            return 0;
        end;
    end loop;
    p_next_at := case when (p_next_at > p_schedule.ends_at) is not true then p_next_at end;
    if v_refused is not null then
        p_next_at := v_times[v_count + 1];
        v_passed := (select count(*) from unnest(p_times) t(at) where t.at < p_next_at);
        p_schedule.remaining := p_schedule.remaining + cardinality(p_times) - v_passed;
    end if;
    update howdah.schedules s
    set next_at = p_next_at, due_at = case when v_refused is null then p_next_at else v_again end,
        remaining = p_schedule.remaining, last_error = left(v_refused, 1000),
        state = case when p_next_at is null then 'ended' else s.state end,
        changed_at = case when p_next_at is null then v_now else s.changed_at end,
        fired = s.fired + v_count, last_fired_at = case when v_count > 0 then v_now else s.last_fired_at end,
        missed = p_schedule.missed + v_passed - v_count
    where s.id = p_schedule.id;
    return v_count;
end
$$;
