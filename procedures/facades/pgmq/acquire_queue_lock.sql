-- pgmq.acquire_queue_lock(queue_name): wait until nobody else creates or drops the queue; until the transaction ends.
--
-- Role     howdah_admin
create or replace function pgmq.acquire_queue_lock(queue_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ begin perform pg_advisory_xact_lock(howdah._lock_key('pgmq queue', lower(queue_name))); end $$;
