-- howdah._connection_lives(p_queue): whether the connection that a temporary queue belongs to still exists.
--
-- Returns  boolean; NULL if the queue is free.
-- Role     internal
--
-- A database session holds a lock while it lives, so its end is noticed at once. Any other connection must have given a
-- sign of life within a minute. The caller's own session holds its lock, too, which this function cannot see.
create or replace function howdah._connection_lives(p_queue howdah.temporary_queues) returns boolean
language sql volatile
as $$
    select case
        when p_queue.boot is distinct from pg_postmaster_start_time() then false
        when p_queue.connection ^@ 's-' then not pg_try_advisory_xact_lock_shared(hashtextextended(p_queue.connection,
            1213154392))
        else howdah._silent_ms(p_queue.alive) <= 60000 end
    where p_queue.connection is not null
$$;
