-- howdah._fire(p_schedule, p_at): make one firing: send the message, or begin the series.
--
-- Returns  the message's id (bigint); NULL: it began a series.
-- Raises   HD001 its destination was dropped; HD010 its creator may no longer send there; what howdah.send raises.
-- Role     internal
create or replace function howdah._fire(p_schedule howdah.schedules, p_at timestamptz) returns bigint
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_message_id bigint;
    v_series howdah.schedules;
begin
    select d.* into v_destination from howdah.destinations d
    where d.id = p_schedule.destination_id and d.dropped_at is null;
    if not found then
        raise exception using errcode = 'HD001', message = format('destination %s was dropped',
            howdah._destination_name(p_schedule.destination_id)),
            hint = 'Cancel the schedule.';
    end if;
    v_destination := howdah._by_alias(v_destination, p_schedule.alias);
    if not howdah._role_has_right(p_schedule.created_by, v_destination.id, 'send') then
        raise exception using errcode = 'HD010',
            message = format('role %s may not send to %s any more', quote_ident(p_schedule.created_by),
                quote_literal(v_destination.name)),
            hint = 'Grant it the right, and call howdah.resume_schedule.';
    end if;
    if p_schedule.cron is not null and p_schedule.period_ms is not null then
        v_series := p_schedule;
        v_series.id := nextval(v_destination.positions) * 1000000 + v_destination.id;
        v_series.parent_id := p_schedule.id;
        v_series.cron := null;
        v_series.name := null;
        v_series.catch_up := true;
        v_series.next_at := p_at + coalesce(p_schedule.delay_ms, p_schedule.period_ms) * interval '1 millisecond';
        v_series.due_at := v_series.next_at;
        v_series.fired := 0;
        v_series.missed := 0;
        v_series.last_fired_at := null;
        v_series.created_at := howdah.now();
        v_series.changed_at := v_series.created_at;
        insert into howdah.schedules select v_series.*;
    else
        v_message_id := howdah._send_to(v_destination, p_schedule.body, p_schedule.is_text, p_schedule.content_type,
            jsonb_build_object('scheduledJobId', p_schedule.id::text) || coalesce(p_schedule.headers, '{}')
                || jsonb_build_object('scheduledTime', (extract(epoch from p_at) * 1000)::bigint)
                || case when v_destination.stamp_user then howdah._stamped(null, p_schedule.created_by) else '{}' end,
            p_schedule.priority, p_schedule.correlation_id, p_schedule.reply_to, p_schedule.message_type,
            p_schedule.conversation_id, p_schedule.time_to_live_ms * interval '1 millisecond', null,
            p_schedule.reliability, true, null,
            p_schedule.created_by);
    end if;
    insert into howdah.schedule_runs (schedule_id, planned_at, fired_at, message_id, series_id)
    values (p_schedule.id, p_at, howdah.now(), v_message_id, v_series.id);
    return v_message_id;
end
$$;
