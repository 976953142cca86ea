-- howdah._is_only_delayed(p_schedule): whether a schedule fires once, some time after it was made.
--
-- Returns  boolean; false if it names a time itself, or fires again.
-- Role     internal
create or replace function howdah._is_only_delayed(p_schedule howdah.schedules) returns boolean
language sql immutable
as $$
    select p_schedule.delay_ms is not null
        and num_nonnulls(p_schedule.cron, p_schedule.period_ms, p_schedule.starts_at, p_schedule.ends_at) = 0
$$;
