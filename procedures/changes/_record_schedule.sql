-- howdah._record_schedule(p_schedule, p_queue, p_act, p_state): record what an administrator did with a schedule.
--
-- Role     internal
--
-- It does not record the schedules that applications make for themselves. It leaves out the body, which may hold what
-- only the queue's consumers may read. p_state is the state that an altered schedule got.
create or replace function howdah._record_schedule(
    p_schedule howdah.schedules, p_queue text, p_act text, p_state text default null
) returns void
language plpgsql volatile
as $$
declare
    v_definition jsonb;
begin
    if not (select howdah._has_role(e.admin_role) from howdah.engine e) then
        return;
    end if;
    v_definition := jsonb_strip_nulls(howdah._schedule_definition(p_schedule) - array['body', 'is_text', 'headers',
        'destination_id']) || jsonb_build_object('queue', p_queue, 'id', p_schedule.id, 'state', p_schedule.state);
    perform howdah._record_change('schedule', coalesce(p_schedule.name, p_schedule.id::text), p_act,
        case when p_act <> 'created' then v_definition end,
        case p_act when 'created' then v_definition when 'altered' then v_definition
            || jsonb_build_object('state', p_state) end);
end
$$;
