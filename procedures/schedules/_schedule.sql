-- howdah._schedule(p_queue, p_body, …): the body of howdah.schedule.
--
-- Returns  the number of the schedule (bigint), or the message's id if it is a delayed message.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD050 as howdah.schedule.
-- Role     internal
create or replace function howdah._schedule(
    p_queue text, p_body bytea, p_is_text boolean, p_cron text, p_period interval, p_repeat integer,
    p_starts_at timestamptz, p_ends_at timestamptz, p_delay interval, p_name text, p_time_zone text, p_catch_up boolean,
    p_misfire_grace interval, p_headers jsonb, p_priority integer, p_correlation_id text, p_reply_to text,
    p_message_type text, p_conversation_id uuid, p_time_to_live interval, p_reliability text, p_content_type text
) returns bigint
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination_or_new(p_queue, 'send');
    v_now timestamptz := howdah.now();
    v_once boolean := p_cron is null and p_period is null;
    v_level smallint;
    v_first timestamptz;
    v_row howdah.schedules;
begin
    perform howdah._check_message(v_destination, octet_length(p_body), p_headers, p_priority, p_content_type,
        p_time_to_live, p_delay);
    v_level := howdah._level_for(v_destination, p_reliability);
    perform howdah._check_schedule(v_once, p_cron, p_period, p_repeat, p_starts_at, p_ends_at, p_delay, p_name,
        p_time_zone, p_misfire_grace);
    if p_cron is null then
        v_first := coalesce(p_starts_at, v_now) + coalesce(p_delay, case when p_starts_at is null then p_period end,
            interval '0');
    end if;
    if v_once and v_destination.kind = 'queue' and p_name is null then
        return howdah._send_to(v_destination, p_body, p_is_text, p_content_type,
            case when v_destination.stamp_user then howdah._stamped(p_headers, howdah._caller()) else p_headers end,
            p_priority, p_correlation_id, p_reply_to, p_message_type, p_conversation_id, p_time_to_live,
            greatest(v_first - v_now, interval '0'), p_reliability,
            true, null);
    end if;
    if v_destination.contract is not null then
        perform howdah._check_contract(v_destination, array[p_body], p_is_text);
    end if;
    v_row.id := nextval(v_destination.positions) * 1000000 + v_destination.id;
    v_row.state := 'active';
    v_row.destination_id := v_destination.id;
    v_row.cron := btrim(p_cron);
    v_row.time_zone := p_time_zone;
    v_row.period_ms := howdah._milliseconds(p_period);
    v_row.delay_ms := howdah._milliseconds(p_delay);
    v_row.remaining := case when v_once then 1 when p_repeat >= 0 then p_repeat + 1 end;
    v_row.repeats := v_row.remaining - 1;
    v_row.starts_at := p_starts_at;
    v_row.ends_at := p_ends_at;
    v_row.next_at := v_first;
    v_row.due_at := coalesce(v_first, v_now);
    v_row.catch_up := coalesce(p_catch_up, p_cron is null and p_repeat >= 0, false);
    v_row.misfire_grace_ms := howdah._milliseconds(p_misfire_grace);
    v_row.fired := 0;
    v_row.missed := 0;
    v_row.created_at := v_now;
    v_row.changed_at := v_now;
    v_row.created_by := howdah._caller();
    v_row.is_text := p_is_text;
    v_row.body := p_body;
    v_row.content_type := p_content_type;
    v_row.headers := p_headers;
    v_row.priority := p_priority;
    v_row.correlation_id := p_correlation_id;
    v_row.reply_to := p_reply_to;
    v_row.message_type := p_message_type;
    v_row.conversation_id := p_conversation_id;
    v_row.time_to_live_ms := case when p_time_to_live is not null
        then greatest(howdah._milliseconds(p_time_to_live), 1) end;
    if v_destination.name <> p_queue then
        v_row.alias := p_queue;
        v_row.reliability := howdah._level_name(v_level, null);  -- the alias may be gone when it fires
    else
        v_row.reliability := p_reliability;
    end if;
    if v_row.next_at > v_row.ends_at then
        v_row.state := 'ended';
        v_row.due_at := null;
    end if;
    perform howdah._commit_needs(4);
    insert into howdah.schedules select v_row.*;
    perform howdah._record_schedule(v_row, v_destination.name, 'created') where p_name is null;
    return v_row.id;
end
$$;
