-- howdah._verdict(p_destination, p_failures, p_delay_ms): what a queue's policy does with a message after a number of
-- failures.
--
-- Returns  moved, blocked, discarded, quarantined, ended, delayed or returned.
-- Role     internal
--
-- A queue that decides when it receives (IBM MQ, Service Broker) leaves a message at its limit where it is.
create or replace function howdah._verdict(
    p_destination howdah.destinations, p_failures integer, p_delay_ms bigint
) returns text
language sql immutable
as $$
    select case
        when p_failures >= 1000000 and p_destination.poison_procedure is null
            or p_failures >= howdah._failure_limit(p_destination)
               and (p_destination.decided_at = 'failure' or p_destination.at_limit = 'move'
                   and p_destination.exception_mode = 'none')
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
