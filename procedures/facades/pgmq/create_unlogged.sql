-- pgmq.create_unlogged(queue_name): create a queue that pgmq would keep in an unlogged table. If it is there, nothing
-- happens.
--
-- Raises   P0001 a bad name; HD003 a name that howdah does not allow; HD010 not allowed; HD027 the engine is full.
-- Role     howdah_admin
--
-- Its messages are as safe as any: howdah has no use for an unlogged table here.
create or replace function pgmq.create_unlogged(queue_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ begin perform pgmq._create(queue_name, false, true); end $$;
