-- pgmq.create_fifo_indexes_all(): do nothing. Grouped reads need no index.
--
-- Role     howdah_admin
create or replace function pgmq.create_fifo_indexes_all() returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ begin null; end $$;
