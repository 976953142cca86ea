-- howdah._store_queue(p_destination): store a new queue, with the queues that its policy needs.
--
-- Returns  its number (integer).
-- Raises   HD002 a destination of that name exists, or all numbers are taken.
-- Role     internal
create or replace function howdah._store_queue(p_destination howdah.destinations) returns integer
language plpgsql volatile
as $$
begin
    perform pg_advisory_xact_lock(howdah._lock_key('name', p_destination.name));
    perform howdah._ensure_targets(p_destination);
    if p_destination.name ~ '^Consumer[.][^.]+[.]VirtualTopic[.]' then
        perform howdah._lock_names();
    end if;
    p_destination.id := howdah._add_destination(p_destination);
    if p_destination.name ~ '^Consumer[.][^.]+[.]VirtualTopic[.]' then
        perform howdah._join_virtual_topic(p_destination.id, p_destination.name);
    end if;
    return p_destination.id;
end
$$;
