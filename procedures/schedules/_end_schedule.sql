-- howdah._end_schedule(p_schedule, p_state): end a schedule, and the series that it began.
--
-- Role     internal
create or replace function howdah._end_schedule(p_schedule howdah.schedules, p_state text) returns void
language sql volatile
as $$
    update howdah.schedules s set state = p_state, due_at = null, next_at = null, changed_at = howdah.now()
    where (s.id = p_schedule.id or s.parent_id = p_schedule.id) and s.state in ('active', 'paused', 'failed', 'ended')
$$;
