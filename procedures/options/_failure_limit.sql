-- howdah._failure_limit(p_destination): the number of failures at which a message of a queue reaches its limit.
--
-- Returns  integer; NULL if it never does.
-- Role     internal
--
-- In IBM MQ and WebSphere, 0 means never. In ActiveMQ, 0 redeliveries must be exceeded, so the first failure is the
-- limit. -1 means never.
create or replace function howdah._failure_limit(p_destination howdah.destinations) returns integer
language sql immutable
as $$
    select nullif(p_destination.max_failed_deliveries + (p_destination.limit_comparison = 'exceeded')::integer, 0)
    where p_destination.max_failed_deliveries >= 0
$$;
