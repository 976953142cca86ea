-- pgmq.create_fifo_index(queue_name): do nothing but look whether the queue is there. Grouped reads need no index.
--
-- Raises   42P01 no such queue; HD010 not allowed.
-- Role     howdah_admin
create or replace function pgmq.create_fifo_index(queue_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ begin perform pgmq._refuse(queue_name, 'admin'); end $$;
