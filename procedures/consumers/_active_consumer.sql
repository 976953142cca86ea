-- howdah._active_consumer(p_queue): the one consumer of a queue that gets messages, if only one does.
--
-- Returns  its number (integer). NULL if there is no exclusive consumer, and the queue is neither single nor failover,
--          or has none open.
-- Role     internal
create or replace function howdah._active_consumer(p_queue howdah.destinations) returns integer
language sql stable
as $$
    select c.id from howdah.consumers c
    where c.destination_id = p_queue.id and (c.exclusive or p_queue.delivery_policy in ('single', 'failover'))
    order by c.priority desc, c.id limit 1
$$;
