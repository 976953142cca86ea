-- howdah._schedule_by_headers(p_queue, p_body, …): schedule a message that was sent with ActiveMQ's headers.
--
-- Returns  the number of the schedule (bigint), or the id of the delayed message.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018 as howdah.schedule.
-- Role     internal
--
-- AMQ_SCHEDULED_DELAY and _PERIOD are in milliseconds. _REPEAT is the number of further deliveries (default 0, -1 for
-- no end). _CRON overrides the delay; with period and repeat, each of its firings begins a series. A message with a
-- scheduledJobId is sent and not scheduled.
create or replace function howdah._schedule_by_headers(
    p_queue text, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb, p_priority integer,
    p_correlation_id text, p_reply_to text, p_message_type text, p_conversation_id uuid, p_time_to_live interval,
    p_reliability text
) returns bigint
language plpgsql volatile
as $$
declare
    v_headers jsonb := p_headers - array['AMQ_SCHEDULED_DELAY', 'AMQ_SCHEDULED_PERIOD', 'AMQ_SCHEDULED_REPEAT',
        'AMQ_SCHEDULED_CRON'];
    v_destination howdah.destinations := howdah._destination_or_new(p_queue, 'send');
    v_cron text := nullif(p_headers ->> 'AMQ_SCHEDULED_CRON', '');
    v_number text[] := array(
        select p_headers ->> h.name from unnest(array['AMQ_SCHEDULED_DELAY', 'AMQ_SCHEDULED_PERIOD',
            'AMQ_SCHEDULED_REPEAT']) h(name));
    v_delay interval;
    v_period interval;
    v_repeat integer;
begin
    if exists (select from unnest(v_number) n(text) where n.text !~ '^-?[0-9]{1,12}$')
       or v_number[3] !~ '^(-1|[0-9]{1,9}|1000000000)$' then
        raise exception using errcode = 'HD005', message = 'AMQ_SCHEDULED_DELAY, _PERIOD and _REPEAT are whole numbers',
            hint =
                'Delay and period are in milliseconds; repeat is the number of deliveries after the first, -1 for no '
                'end.';
    end if;
    v_delay := nullif(v_number[1]::bigint, 0) * interval '1 millisecond';
    v_period := nullif(v_number[2]::bigint, 0) * interval '1 millisecond';
    v_repeat := coalesce(v_number[3]::bigint, 0);
    if v_cron is null and (v_repeat = 0 or v_period is null) then
        v_headers := v_headers || jsonb_build_object('scheduledJobId',
            (nextval(v_destination.positions) * 1000000 + v_destination.id)::text);
        return howdah._schedule(p_queue, p_body, p_is_text, null, null, null, null, null,
            coalesce(v_delay, v_period, interval '0'), null,
            'UTC', null, null, v_headers, p_priority, p_correlation_id, p_reply_to, p_message_type, p_conversation_id,
            p_time_to_live, p_reliability, p_content_type);
    end if;
    if v_cron is not null and (v_repeat = 0 or v_period is null) then
        v_period := null;
        v_delay := null;
        v_repeat := null;
    end if;
    return howdah._schedule(p_queue, p_body, p_is_text, v_cron, v_period, v_repeat, null, null, v_delay, null, 'UTC',
        null, null, v_headers, p_priority, p_correlation_id, p_reply_to, p_message_type, p_conversation_id,
        p_time_to_live,
        p_reliability, p_content_type);
end
$$;
