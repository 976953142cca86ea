-- howdah._schedule_definition(p_schedule): the definition of a schedule, without its progress.
--
-- Returns  jsonb.
-- Role     internal
create or replace function howdah._schedule_definition(p_schedule howdah.schedules) returns jsonb
language sql stable
as $$
    select to_jsonb(p_schedule) - array['id', 'parent_id', 'name', 'next_at', 'due_at', 'created_at', 'changed_at',
        'last_fired_at',
        'fired', 'missed',
        'remaining', 'state', 'created_by', 'last_error']
$$;
