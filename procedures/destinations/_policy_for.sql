-- howdah._policy_for(p_name): the options that wildcard policies give to a new queue.
--
-- Returns  jsonb; {} if there are none. A queue to which that policy sends dead messages keeps its own dead messages.
-- Role     internal
create or replace function howdah._policy_for(p_name text) returns jsonb
language sql stable
as $$
    select case
        when p_name = 'ActiveMQ.DLQ' or p.options ->> 'exception_queue' = p_name or p.options ->> 'log_queue' = p_name
             or p.options ->> 'exception_mode' = 'individual'
                and starts_with(p_name, coalesce(p.options ->> 'exception_prefix', 'ActiveMQ.DLQ.Queue.'))
            then p.options - array['exception_queue', 'log_queue', 'exception_prefix']
                || jsonb '{"exception_mode": "none", "at_limit": "move"}'
        else p.options end
    from (select howdah._most_specific(p_name) as pattern) m join howdah.destination_policies p on p.pattern = m.pattern
    union all
    select '{}'
    limit 1
$$;
