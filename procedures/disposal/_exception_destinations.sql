-- howdah._exception_destinations(): the queues that dead messages go to.
--
-- Returns  their numbers (setof integer).
-- Role     internal
create or replace function howdah._exception_destinations() returns setof integer
language sql stable
as $$
    select e.id from howdah.destinations e
    where e.dropped_at is null and e.name = any (
        array['SYSTEM.DEAD.LETTER.QUEUE', 'ActiveMQ.DLQ']
        || array(select '_SYSTEM.Exception.Destination.' || g.name from howdah.engine g)
        || array(select case d.exception_mode when 'named' then d.exception_queue else d.exception_prefix || d.name end
                 from howdah.destinations d where d.exception_mode in ('named', 'individual')))
$$;
