-- howdah._option_kinds(): what each option of a queue, a topic, a listener or the engine may be.
--
-- Returns  what has it (queue, topic, listener or engine); key; kind (integer, number, boolean, size, choice, name, function, selector); bounds of a number; the choices; whether it may be null.
-- Role     internal
create or replace function howdah._option_kinds()
returns table (owner text, key text, kind text, lowest numeric, highest numeric, choices text[], nullable boolean)
language sql immutable
as $$
    values
        ('queue', 'preset', 'choice', 0, 0, array['howdah', 'websphere', 'websphere_mq', 'service_broker', 'activemq'], false),
        ('queue', 'max_failed_deliveries', 'integer', -1, 999999, null, false),
        ('queue', 'limit_comparison', 'choice', 0, 0, array['reached', 'exceeded'], false),
        ('queue', 'count_by', 'choice', 0, 0, array['message', 'conversation', 'group'], false),
        ('queue', 'decided_at', 'choice', 0, 0, array['failure', 'receive'], false),
        ('queue', 'backout_count', 'choice', 0, 0, array['volatile', 'recorded', 'hardened'], false),
        ('queue', 'redelivery_delay_ms', 'integer', 0, 3155760000000, null, false),
        ('queue', 'initial_redelivery_delay_ms', 'integer', 0, 3155760000000, null, true),
        ('queue', 'use_exponential_backoff', 'boolean', 0, 0, null, false),
        ('queue', 'backoff_multiplier', 'number', 1, 1000, null, false),
        ('queue', 'max_redelivery_delay_ms', 'integer', -1, 3155760000000, null, false),
        ('queue', 'use_collision_avoidance', 'boolean', 0, 0, null, false),
        ('queue', 'collision_avoidance_factor', 'number', 0, 1, null, false),
        ('queue', 'override_blocked_retry', 'boolean', 0, 0, null, false),
        ('queue', 'blocked_retry_ms', 'integer', -1, 3155760000000, null, false),
        ('queue', 'strict_order', 'boolean', 0, 0, null, false),
        ('queue', 'at_limit', 'choice', 0, 0, array['move', 'discard', 'quarantine', 'end_conversation'], false),
        ('queue', 'exception_mode', 'choice', 0, 0, array['system', 'named', 'dead_letter', 'shared', 'individual', 'none'], false),
        ('queue', 'exception_queue', 'name', 0, 0, null, true),
        ('queue', 'exception_fallback', 'choice', 0, 0, array['system', 'dead_letter'], false),
        ('queue', 'exception_prefix', 'name', 0, 0, null, false),
        ('queue', 'check_rights', 'boolean', 0, 0, null, false),
        ('queue', 'process_non_persistent', 'boolean', 0, 0, null, false),
        ('queue', 'process_expired', 'boolean', 0, 0, null, false),
        ('queue', 'log_table', 'boolean', 0, 0, null, false),
        ('queue', 'log_queue', 'name', 0, 0, null, true),
        ('queue', 'poison_procedure', 'function', 0, 0, null, true),
        ('queue', 'quarantine_ms', 'integer', 0, 3155760000000, null, false),
        ('queue', 'quarantine_times', 'integer', 0, 1000000, null, false),
        ('queue', 'error_reply', 'boolean', 0, 0, null, false),
        ('queue', 'notify_admin', 'boolean', 0, 0, null, false),
        ('queue', 'notify_events', 'boolean', 0, 0, null, false),
        ('queue', 'clean_incidents', 'boolean', 0, 0, null, false),
        ('queue', 'poison_handling', 'boolean', 0, 0, null, false),
        ('queue', 'disable_after', 'integer', 0, 1000000, null, false),
        ('queue', 'max_message_bytes', 'integer', 1, 1073741823, null, false),
        ('queue', 'message_limit', 'integer', -1, 1000000000000, null, true),
        ('queue', 'byte_limit', 'integer', -1, 1000000000000000, null, true),
        ('queue', 'limit_behaviour', 'choice', 0, 0, array['reject', 'remove_oldest', 'remove_lowest_priority', 'block'], false),
        ('queue', 'send_timeout_ms', 'integer', 0, 86400000, null, false),
        ('queue', 'deduplication_window_ms', 'integer', 1, 2592000000, null, false),
        ('queue', 'default_priority', 'integer', 0, 9, null, false),
        ('queue', 'default_time_to_live_ms', 'integer', 1, 3155760000000, null, true),
        ('queue', 'journal_level', 'choice', 0, 0, array['off', 'exits', 'full'], false),
        ('queue', 'persistent', 'boolean', 0, 0, null, false),
        ('queue', 'stamp_user', 'boolean', 0, 0, null, false),
        ('queue', 'message_groups', 'choice', 0, 0, array['none', 'transaction', 'sticky'], false),
        ('queue', 'delivery_policy', 'choice', 0, 0, array['shared', 'single', 'failover', 'round_robin'], false),
        ('topic', 'persistent', 'boolean', 0, 0, null, false),
        ('topic', 'stamp_user', 'boolean', 0, 0, null, false),
        ('topic', 'max_message_bytes', 'integer', 1, 1073741823, null, false),
        ('topic', 'default_priority', 'integer', 0, 9, null, false),
        ('topic', 'default_time_to_live_ms', 'integer', 1, 3155760000000, null, true),
        ('topic', 'journal_level', 'choice', 0, 0, array['off', 'exits', 'full'], false),
        ('topic', 'deduplication_window_ms', 'integer', 1, 2592000000, null, false),
        ('topic', 'retain_ms', 'integer', 1, 3155760000000, null, true),
        ('topic', 'retain_bytes', 'integer', 1, 1000000000000000, null, true),
        ('topic', 'recovery', 'choice', 0, 0, array['none', 'last_image', 'retained', 'fixed_count', 'fixed_size', 'timed', 'query'], false),
        ('topic', 'recovery_amount', 'integer', 1, 1000000000000, null, true),
        ('topic', 'recovery_selector', 'selector', 0, 0, null, true),
        ('topic', 'backlog_limit', 'integer', 1, 1000000000000, null, true),
        ('topic', 'backlog_age_ms', 'integer', 1, 3155760000000, null, true),
        ('topic', 'backlog_action', 'choice', 0, 0, array['drop_backlog', 'drop_subscription', 'refuse'], false),
        ('listener', 'max_sessions', 'integer', 1, 1000, null, false),
        ('listener', 'stop_on_failure', 'boolean', 0, 0, null, false),
        ('listener', 'sequential_failures', 'integer', 0, 1000000, null, false),
        ('listener', 'kind', 'choice', 0, 0, array['activation_specification', 'listener_port'], false),
        ('engine', 'max_count', 'integer', -1, 999999999999999, null, true),
        ('engine', 'max_size', 'size', 0, 0, null, true),
        ('engine', 'max_message_bytes', 'size', 0, 0, null, true),
        ('engine', 'yellow_threshold', 'integer', 1, 100, null, false),
        ('engine', 'orange_threshold', 'integer', 1, 100, null, false),
        ('engine', 'red_threshold', 'integer', 1, 100, null, false),
        ('engine', 'orange_delay_ms', 'integer', 0, 60000, null, false),
        ('engine', 'default_blocked_retry_ms', 'integer', 0, 3155760000000, null, false),
        ('engine', 'redelivered_optimization', 'boolean', 0, 0, null, false),
        ('engine', 'expiration_interval_seconds', 'integer', 0, 31536000, null, false),
        ('engine', 'autorollback', 'boolean', 0, 0, null, false),
        ('engine', 'topic_rotation_seconds', 'integer', 1, 31536000, null, false),
        ('engine', 'journal_retention_days', 'integer', 1, 36500, null, false),
        ('engine', 'incident_retention_days', 'integer', 1, 36500, null, false),
        ('engine', 'archive', 'boolean', 0, 0, null, false),
        ('engine', 'persistent', 'boolean', 0, 0, null, false)
$$;

-- howdah._check_options(p_owner, p_options): refuse options of a queue, topic, listener or the engine that are unknown or wrong.
--
-- Raises   HD003 a name is no queue name; HD004 an option is unknown or wrong.
-- Role     internal
create or replace function howdah._check_options(p_owner text, p_options jsonb) returns void
language plpgsql volatile
as $$
declare
    v_option record;
    v_right boolean;
begin
    if p_options is null or jsonb_typeof(p_options) <> 'object' then
        raise exception using errcode = 'HD004', message = 'options must be a JSON object',
            hint = case p_owner when 'queue' then 'For example {"max_failed_deliveries": 3}.' when 'topic' then 'For example {"retain_ms": 86400000}.'
                when 'engine' then 'For example {"max_count": 100000}.' else 'For example {"sequential_failures": 3}.' end;
    end if;
    for v_option in
        select o.key, o.value, o.value #>> '{}' as text, jsonb_typeof(o.value) as type, k.kind, k.lowest, k.highest, k.choices, k.nullable
        from jsonb_each(p_options) o left join howdah._option_kinds() k on k.key = o.key and k.owner = p_owner
    loop
        if v_option.kind is null then
            raise exception using errcode = 'HD004', message = format('there is no option %s', quote_literal(left(v_option.key, 100))),
                hint = 'Options are: ' || (select string_agg(k.key, ', ') from howdah._option_kinds() k where k.owner = p_owner) || '.';
        end if;
        continue when v_option.type = 'null' and v_option.nullable;
        v_right := case v_option.kind
            when 'integer' then v_option.type = 'number' and v_option.text::numeric between v_option.lowest and v_option.highest
                and v_option.text::numeric % 1 = 0
            when 'number' then v_option.type = 'number' and v_option.text::numeric between v_option.lowest and v_option.highest
            when 'boolean' then v_option.type = 'boolean'
            when 'size' then howdah._size(v_option.text) is not null
            when 'choice' then v_option.type = 'string' and v_option.text = any (v_option.choices)
            else v_option.type = 'string' end;
        if not v_right then
            raise exception using errcode = 'HD004', message = format('option %s cannot be %s', v_option.key, left(v_option.value::text, 100)),
                hint = case v_option.kind
                    when 'integer' then format('It is a whole number from %s to %s.', v_option.lowest, v_option.highest)
                    when 'number' then format('It is a number from %s to %s.', v_option.lowest, v_option.highest)
                    when 'boolean' then 'It is true or false.'
                    when 'size' then 'It is a number of bytes, or a text such as "10k" or "5m"; 0 or -1: no limit.'
                    when 'choice' then format('It is one of: %s.', array_to_string(v_option.choices, ', '))
                    when 'function' then 'It is the name of a function with its schema, such as "shop.poison".'
                    when 'selector' then 'It is a selector, such as "price > 100".'
                    else 'It is the name of a queue.' end;
        end if;
        if v_option.kind = 'name' then
            perform howdah._check_name(v_option.text);
        end if;
    end loop;
end
$$;

-- howdah._size(p_size): a number of bytes from a text with the unit b, k or m.
--
-- Returns  bigint; NULL: it is none.
-- Role     internal
create or replace function howdah._size(p_size text) returns bigint
language sql immutable
as $$
    select m.part[1]::bigint * case lower(m.part[2]) when 'k' then 1024 when 'm' then 1048576 else 1 end
    from regexp_match(p_size, '^(-1|[0-9]{1,12})([bkmBKM]?)$') m(part)
$$;
