-- howdah._limit(p_destination): at how many failures a message of a queue is at its limit.
--
-- Returns  integer; NULL: never.
-- Role     internal
--
-- IBM MQ's and WebSphere's 0 is never; ActiveMQ's 0 redeliveries, which must be exceeded, are the first failure. -1 is never.
create or replace function howdah._limit(p_destination howdah.destinations) returns integer
language sql immutable
as $$
    select nullif(p_destination.max_failed_deliveries + (p_destination.limit_comparison = 'exceeded')::integer, 0)
    where p_destination.max_failed_deliveries >= 0
$$;

-- howdah._exception_name(p_destination): the name of the exception destination that a queue's policy says.
--
-- Returns  text; NULL: none.
-- Role     internal
create or replace function howdah._exception_name(p_destination howdah.destinations) returns text
language sql stable
as $$
    select case p_destination.exception_mode
        when 'named' then p_destination.exception_queue
        when 'dead_letter' then 'SYSTEM.DEAD.LETTER.QUEUE'
        when 'shared' then 'ActiveMQ.DLQ'
        when 'individual' then p_destination.exception_prefix || p_destination.name
        when 'system' then (select '_SYSTEM.Exception.Destination.' || e.name from howdah.engine e) end
$$;

-- howdah._check_policy(p_destination): refuse a policy that contradicts itself.
--
-- Raises   HD004 options contradict each other.
-- Role     internal
create or replace function howdah._check_policy(p_destination howdah.destinations) returns void
language plpgsql stable
as $$
declare
    v_wrong text := case
        when p_destination.exception_mode = 'named' and p_destination.exception_queue is null
            then 'option exception_mode "named" needs the option exception_queue'
        when p_destination.exception_mode <> 'named' and p_destination.exception_queue is not null
            then 'option exception_queue goes with exception_mode "named" only'
        when p_destination.at_limit in ('quarantine', 'end_conversation') and p_destination.exception_mode = 'none'
            then format('option at_limit "%s" needs an exception destination for what it does not take', p_destination.at_limit)
        when p_destination.backout_count = 'hardened' and p_destination.count_by <> 'message'
            then 'option backout_count "hardened" goes with count_by "message" only'
        when p_destination.kind = 'subscription' and (p_destination.strict_order or p_destination.backout_count = 'hardened')
            then 'options strict_order and backout_count "hardened" are for queues, not for subscriptions'
        when p_destination.backout_count = 'hardened' and (p_destination.message_groups = 'sticky' or p_destination.delivery_policy <> 'shared')
            then 'option backout_count "hardened" goes neither with message_groups "sticky" nor with a delivery_policy, which need consumers'
        when p_destination.kind = 'subscription' and (p_destination.message_groups <> 'none' or p_destination.delivery_policy <> 'shared')
            then 'options message_groups and delivery_policy are for queues, not for subscriptions'
        when p_destination.poison_procedure is not null and (p_destination.decided_at = 'failure'
            or p_destination.at_limit = 'move' and p_destination.exception_mode = 'none')
            then 'option poison_procedure needs decided_at "receive", and a place for messages that the procedure leaves'
        when p_destination.log_queue = p_destination.name then 'a queue cannot be its own log_queue'
        when p_destination.disable_after > 0 and p_destination.journal_level = 'off'
            then 'option disable_after needs the journal, which tells successes from failures'
    end;
begin
    if v_wrong is not null then
        raise exception using errcode = 'HD004', message = v_wrong,
            hint = 'exception_mode "none" keeps messages past the limit in the queue; howdah.queue_options(queue) shows what holds.';
    end if;
end
$$;

-- howdah._with_options(p_destination, p_options): a destination's row with options applied, a preset before the others.
--
-- Returns  the changed row; nothing is written.
-- Raises   HD003 a name is no queue name; HD004 an option is unknown or wrong, or options contradict each other.
-- Role     internal
create or replace function howdah._with_options(p_destination howdah.destinations, p_options jsonb) returns howdah.destinations
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
    elsif p_options ? 'exception_mode' and p_options ->> 'exception_mode' <> 'named' and not p_options ? 'exception_queue' then
        v_options := v_options || jsonb '{"exception_queue": null}';
    end if;
    if p_options ? 'blocked_retry_ms' and not p_options ? 'preset' then
        -- WebSphere's check box: a value without it means nothing, so giving one ticks it unless told otherwise.
        v_options := jsonb '{"override_blocked_retry": true}' || v_options;
    end if;
    if p_options ? 'preset' then
        v_options := howdah._preset(p_options ->> 'preset') || v_options;
    end if;
    if p_options ->> 'poison_procedure' is not null then
        -- Decided at a failure the message would go before that failure is on record.
        v_options := jsonb '{"decided_at": "receive"}' || v_options;
        p_destination.poison_procedure_owner := howdah._check_poison_procedure(p_options ->> 'poison_procedure');
    end if;
    p_destination := jsonb_populate_record(p_destination, v_options);
    if v_options ? 'max_message_bytes' then
        p_destination.own_max_message_bytes := p_destination.max_message_bytes;
    end if;
    p_destination.message_limit := nullif(greatest(p_destination.message_limit, 0), 0);  -- Sun ONE MQ: 0, later -1, is any number
    p_destination.byte_limit := nullif(greatest(p_destination.byte_limit, 0), 0);
    if p_destination.journal_level <> v_level then
        p_destination.journal_level_at := howdah.now();
    end if;
    if p_destination.exception_mode <> 'none' and howdah._exception_name(p_destination) = p_destination.name then
        p_destination.exception_mode := 'none';  -- a dead-letter queue of a policy by wildcard that matches it too
        p_destination.exception_queue := null;
    end if;
    p_destination.dispose_at := case when howdah._limit(p_destination) is not null
            and not (p_destination.at_limit = 'move' and p_destination.exception_mode = 'none')
        then howdah._limit(p_destination) else 1000000 end;
    perform howdah._check_policy(p_destination);
    return p_destination;
end
$$;
