-- howdah.unregister_worker(worker_id): unregister a worker that has ended; a second call does nothing.
--
-- Role     howdah_consumer howdah_admin
create or replace function howdah.unregister_worker(worker_id uuid) returns void
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    delete from howdah.workers w where w.worker_id = unregister_worker.worker_id
$$;
