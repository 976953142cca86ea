-- howdah._fire_period(p_schedule, p_now): fire a schedule with a period, or one of a single firing.
--
-- Returns  the number of firings that took place (bigint).
-- Role     internal
--
-- At most 1000 in a call: what is left is due at once.
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
    -- Of a long row of firings that one message stands for, the last ones are enough to know which it is.
    v_from := greatest(v_due - 1000, 0);
    p_schedule.missed := p_schedule.missed + v_from;
    p_schedule.remaining := p_schedule.remaining - v_due;
    return howdah._fire_due(p_schedule, array(select p_schedule.next_at + n * v_period from generate_series(v_from, v_due - 1) n),
        case when p_schedule.remaining = 0 then null else p_schedule.next_at + v_due * v_period end, null);
end
$$;

-- howdah._fire_due(p_schedule, p_times, p_next_at, p_error): fire a schedule for some times that have come, and move it on.
--
-- Returns  the number of firings that took place (bigint).
-- Raises   HD005 p_error, which like any other error of a firing ends in last_error.
-- Role     internal
create or replace function howdah._fire_due(p_schedule howdah.schedules, p_times timestamptz[], p_next_at timestamptz, p_error text)
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
        from (select sqlstate in ('HD001', 'HD004', 'HD005', 'HD006', 'HD007', 'HD010', 'HD017') as lasting) v_class
        where s.id = p_schedule.id;
        return 0;
    end;
    p_next_at := case when (p_next_at > p_schedule.ends_at) is not true then p_next_at end;
    update howdah.schedules s
    set next_at = p_next_at, due_at = p_next_at, remaining = p_schedule.remaining, last_error = null,
        state = case when p_next_at is null then 'ended' else s.state end,
        changed_at = case when p_next_at is null then v_now else s.changed_at end, fired = s.fired + cardinality(v_times),
        last_fired_at = case when cardinality(v_times) > 0 then v_now else s.last_fired_at end,
        missed = p_schedule.missed + coalesce(cardinality(p_times), 0) - cardinality(v_times)
    where s.id = p_schedule.id;
    return cardinality(v_times);
end
$$;

-- howdah._fire(p_schedule, p_at): one firing: send the message, or begin the series.
--
-- Raises   HD001 its destination was dropped; HD010 its maker may not send there any more; what howdah.send raises.
-- Role     internal
create or replace function howdah._fire(p_schedule howdah.schedules, p_at timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_message_id bigint;
    v_series howdah.schedules;
begin
    select d.* into v_destination from howdah.destinations d where d.id = p_schedule.destination_id and d.dropped_at is null;
    if not found then
        raise exception using errcode = 'HD001', message = format('destination %s was dropped', howdah._name(p_schedule.destination_id)),
            hint = 'Cancel the schedule.';
    end if;
    if not exists (select from howdah.destination_grants g
                   where g.destination_id = v_destination.id and g.verb = 'send'
                     and howdah._is_member(p_schedule.created_by, g.role_name)) then
        raise exception using errcode = 'HD010',
            message = format('role %s may not send to %s any more', quote_ident(p_schedule.created_by), quote_literal(v_destination.name)),
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
            p_schedule.priority, p_schedule.correlation_id, p_schedule.reply_to, p_schedule.message_type, p_schedule.conversation_id,
            p_schedule.time_to_live_ms * interval '1 millisecond', null,
            case when p_schedule.nonpersistent then 'non-persistent' else 'persistent' end, true, null,
            p_schedule.created_by);
    end if;
    insert into howdah.schedule_runs (schedule_id, planned_at, fired_at, message_id, series_id)
    values (p_schedule.id, p_at, howdah.now(), v_message_id, v_series.id);
end
$$;
