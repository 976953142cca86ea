-- pgmq.notify_queue_listeners(): the trigger function that pgmq has. No trigger of the facade calls it: sends notify.
--
-- Returns  the row.
-- Role     howdah_admin
create or replace function pgmq.notify_queue_listeners() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ begin perform pgmq._notify(substr(tg_table_name, 3)); return new; end $$;
