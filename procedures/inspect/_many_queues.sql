-- howdah._many_queues(): whether there are so many queues that a look at all shows background counts.
--
-- Returns  boolean: over 1,000, not counting temporary queues.
-- Role     internal
create or replace function howdah._many_queues() returns boolean
language sql stable
as $$
    select count(*) > 1000
    from (select from howdah.destinations d where d.dropped_at is null and d.kind = 'queue' and not d.name ^@ '_TEMP.'
        limit 1001) d
$$;
