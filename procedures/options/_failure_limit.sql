-- howdah._failure_limit(p_destination): at how many failures a message of a queue is at its limit.
--
-- Returns  integer; NULL: never.
-- Role     internal
--
-- IBM MQ's and WebSphere's 0 is never; ActiveMQ's 0 redeliveries, which must be exceeded, are the first failure. -1 is
-- never.
create or replace function howdah._failure_limit(p_destination howdah.destinations) returns integer
language sql immutable
as $$
    select nullif(p_destination.max_failed_deliveries + (p_destination.limit_comparison = 'exceeded')::integer, 0)
    where p_destination.max_failed_deliveries >= 0
$$;
