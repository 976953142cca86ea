-- howdah._with_options(p_destination, p_options): a destination's row with options applied, a preset before the others.
--
-- Returns  the changed row; nothing is written.
-- Raises   HD003 a name is not a valid queue name; HD004 an option is unknown or wrong, or options contradict each
--          other.
-- Role     internal
create or replace function howdah._with_options(
    p_destination howdah.destinations, p_options jsonb
) returns howdah.destinations
language plpgsql volatile
as $$
declare
    v_options jsonb := p_options;
    v_level text := p_destination.journal_level;
begin
    perform howdah._check_options('queue', p_options);
    if p_options ->> 'exception_queue' = p_destination.name then
        raise exception using errcode = 'HD004', message = 'a queue cannot be its own exception_queue',
            hint = 'exception_mode "none" keeps messages past the limit in the queue.';
    end if;
    if p_options ? 'exception_queue' and p_options -> 'exception_queue' <> 'null' then
        v_options := jsonb '{"exception_mode": "named"}' || v_options;
    elsif p_options ? 'exception_mode' and p_options ->> 'exception_mode' <> 'named'
       and not p_options ? 'exception_queue' then
        v_options := v_options || jsonb '{"exception_queue": null}';
    end if;
    if p_options ? 'blocked_retry_ms' and not p_options ? 'preset' then
        -- As with WebSphere's check box, the value means nothing without it. So giving a value ticks the box, unless
        -- told otherwise.
        v_options := jsonb '{"override_blocked_retry": true}' || v_options;
    end if;
    if p_options ? 'preset' then
        v_options := howdah._preset(p_options ->> 'preset') || v_options;
    end if;
    if p_options ->> 'poison_procedure' is not null then
        -- If a failure decided, the message would go before that failure is on record.
        v_options := jsonb '{"decided_at": "receive"}' || v_options;
        p_destination.poison_procedure_owner := howdah._check_function(p_options ->> 'poison_procedure',
            'poison procedure');
    end if;
    p_destination := jsonb_populate_record(p_destination, v_options);
    if v_options ? 'max_message_bytes' then
        p_destination.own_max_message_bytes := p_destination.max_message_bytes;
    end if;
    -- In Sun ONE MQ, 0 and later -1 mean any number.
    p_destination.message_limit := nullif(greatest(p_destination.message_limit, 0), 0);
    p_destination.byte_limit := nullif(greatest(p_destination.byte_limit, 0), 0);
    if p_destination.journal_level <> v_level then
        p_destination.journal_level_at := howdah.now();
    end if;
    if p_destination.exception_mode <> 'none' and howdah._exception_name(p_destination) = p_destination.name then
        p_destination.exception_mode := 'none';  -- it is a dead-letter queue that matches its own wildcard policy
        p_destination.exception_queue := null;
    end if;
    p_destination.dispose_at := case when howdah._failure_limit(p_destination) is not null
            and not (p_destination.at_limit = 'move' and p_destination.exception_mode = 'none')
        then howdah._failure_limit(p_destination) else 1000000 end;
    p_destination.limited := howdah._is_limited_by_key(p_destination) or p_destination.max_concurrent is not null
        or p_destination.rate_limit is not null;
    perform howdah._check_levels(p_destination);
    perform howdah._check_policy(p_destination);
    return p_destination;
end
$$;
