-- howdah.keep_connection(): report that the caller's connection lives, though it receives nothing.
--
-- Returns  the number of its temporary queues (bigint).
-- Role     howdah_consumer howdah_admin
--
-- Call it about twice a minute. A database session without howdah.set_connection does not need it.
create or replace function howdah.keep_connection() returns bigint
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select count(howdah._note_alive(t.alive) is null) from howdah.temporary_queues t
    where t.connection = current_setting('howdah.connection', true) and t.boot = pg_postmaster_start_time()
$$;
