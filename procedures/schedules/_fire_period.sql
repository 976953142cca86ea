-- howdah._fire_period(p_schedule, p_now): fire a schedule with a period, or one of a single firing.
--
-- Returns  the number of firings (bigint).
-- Role     internal
--
-- It makes at most 1000 firings in a call; the rest is due at once.
create or replace function howdah._fire_period(p_schedule howdah.schedules, p_now timestamptz) returns bigint
language plpgsql volatile
as $$
declare
    v_until timestamptz := least(p_now, p_schedule.ends_at);
    v_period interval := coalesce(p_schedule.period_ms, 1) * interval '1 millisecond';
    v_due bigint := case when p_schedule.period_ms is null then 1
        else 1 + floor(extract(epoch from v_until - p_schedule.next_at) * 1000 / p_schedule.period_ms)::bigint end;
    v_from bigint;
begin
    v_due := least(v_due, p_schedule.remaining);
    if p_schedule.catch_up then
        v_due := least(v_due, 1000);
    end if;
    -- If one message stands for many firings, the last ones are enough to know which it is.
    v_from := greatest(v_due - 1000, 0);
    p_schedule.missed := p_schedule.missed + v_from;
    p_schedule.remaining := p_schedule.remaining - v_due;
    return howdah._fire_due(p_schedule, array(select p_schedule.next_at + n * v_period
        from generate_series(v_from, v_due - 1) n),
        case when p_schedule.remaining = 0 then null else p_schedule.next_at + v_due * v_period end, null);
end
$$;
