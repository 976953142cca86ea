-- howdah._exception_name(p_destination): the name of the exception destination in a queue's policy.
--
-- Returns  text; NULL if there is none.
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
