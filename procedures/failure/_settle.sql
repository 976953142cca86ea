-- howdah._mean_delay_ms(p_destination, p_failures): milliseconds before redelivery number p_failures, without collision avoidance.
--
-- Returns  double precision, at least 0.
-- Role     internal
--
-- ActiveMQ's formula in closed form: initial_redelivery_delay_ms, then redelivery_delay_ms, or with exponential back-off each
-- backoff_multiplier times the one before; what exceeds the bound becomes the larger of max_redelivery_delay_ms and redelivery_delay_ms.
create or replace function howdah._mean_delay_ms(p_destination howdah.destinations, p_failures integer) returns double precision
language sql immutable
as $$
    select case
        when p_failures <= 1 then f.initial
        when not p_destination.use_exponential_backoff or p_destination.backoff_multiplier <= 1 then f.redelivery
        when p_destination.max_redelivery_delay_ms >= 0 and f.grown > p_destination.max_redelivery_delay_ms
            then greatest(p_destination.max_redelivery_delay_ms, f.redelivery)
        else f.grown
    end
    from (
        select b.initial, b.redelivery,
            least(case when b.initial > 0 then b.initial * p_destination.backoff_multiplier ^ least(p_failures - 1, 100)
                       else b.redelivery * p_destination.backoff_multiplier ^ least(p_failures - 2, 100) end, 3155760000000) as grown
        from (select coalesce(p_destination.initial_redelivery_delay_ms, p_destination.redelivery_delay_ms)::double precision as initial,
                  p_destination.redelivery_delay_ms::double precision as redelivery) b
    ) f
$$;

-- howdah._verdict(p_destination, p_failures, p_delay_ms): what a queue's policy does with a message after so many failures.
--
-- Returns  moved, blocked, discarded, quarantined, ended, delayed or returned.
-- Role     internal
--
-- A queue that decides when it receives (IBM MQ, Service Broker) leaves a message at its limit where it is.
create or replace function howdah._verdict(p_destination howdah.destinations, p_failures integer, p_delay_ms bigint) returns text
language sql immutable
as $$
    select case
        when p_failures >= 1000000 and p_destination.poison_procedure is null
            or p_failures >= howdah._limit(p_destination)
               and (p_destination.decided_at = 'failure' or p_destination.at_limit = 'move' and p_destination.exception_mode = 'none')
            then case p_destination.at_limit
                when 'discard' then 'discarded'
                when 'quarantine' then 'quarantined'
                when 'end_conversation' then 'ended'
                else case when p_destination.exception_mode = 'none' then 'blocked' else 'moved' end
            end
        when coalesce(p_delay_ms, howdah._mean_delay_ms(p_destination, p_failures)) > 0 then 'delayed'
        else 'returned'
    end
$$;

-- howdah._delay(p_destination, p_failures, p_delay_ms): how long a message waits for its redelivery.
--
-- Returns  interval; p_delay_ms itself if it is given.
-- Role     internal
create or replace function howdah._delay(p_destination howdah.destinations, p_failures integer, p_delay_ms bigint) returns interval
language sql volatile
as $$
    select interval '1 millisecond' * coalesce(p_delay_ms, howdah._mean_delay_ms(p_destination, p_failures)
        * (1 + case when p_destination.use_collision_avoidance
                    then sign(random() - 0.5) * random() * p_destination.collision_avoidance_factor else 0 end))
$$;

-- howdah._settle(p_destination, p_message, p_place, p_nonpersistent, p_failures, p_delay_ms, p_due_at): apply the policy to a message that the caller has locked.
--
-- Returns  what was done, as howdah._verdict. p_due_at: when the delay ends that was recorded; NULL: none was, it begins now.
-- Role     internal
create or replace function howdah._settle(
    p_destination howdah.destinations, p_message howdah.msgs, p_place text, p_nonpersistent boolean, p_failures integer,
    p_delay_ms bigint, p_due_at timestamptz
) returns text
language plpgsql volatile
as $$
declare
    v_verdict text := howdah._verdict(p_destination, p_failures, p_delay_ms);
begin
    if v_verdict = 'delayed' then
        perform howdah._remove(p_message, p_place);
        perform howdah._park(p_message, p_nonpersistent,
            coalesce(p_due_at, howdah.now() + howdah._delay(p_destination, p_failures, p_delay_ms)), 'redelivery');
    elsif v_verdict <> 'returned' then
        perform howdah._remove(p_message, p_place);
        return howdah._bury(p_destination, p_message, p_nonpersistent, howdah._why(p_failures));
    end if;
    return v_verdict;
end
$$;
