-- howdah._exception_destinations(): the queues that dead messages go to.
--
-- Returns  their numbers; those that were dropped too.
-- Role     internal
create or replace function howdah._exception_destinations() returns setof integer
language sql stable
as $$
    select e.id from howdah.destinations e
    where e.is_system or e.name in (
        select d.exception_queue from howdah.destinations d where d.exception_queue is not null
        union all
        select d.exception_prefix || d.name from howdah.destinations d where d.exception_mode = 'individual'
        union all
        select 'ActiveMQ.DLQ')
$$;
