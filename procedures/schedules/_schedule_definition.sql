-- howdah._schedule_definition(p_schedule): what a schedule was made with, without what has become of it.
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
