-- pgmq.create(queue_name): create a queue. If it is there, nothing happens.
--
-- Raises   P0001 a bad name; HD003 a name that howdah does not allow; HD010 not allowed; HD027 the engine is full.
-- Role     howdah_admin
create or replace function pgmq.create(queue_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ begin perform pgmq._create(queue_name, false, false); end $$;
