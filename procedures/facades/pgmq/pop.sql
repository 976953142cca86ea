-- pgmq.pop(queue_name, qty): consume visible messages in the caller's transaction.
--
-- Returns  the messages, those with the lowest numbers first.
-- Raises   42P01 no such queue; 2201W qty is negative; HD009 receiving is paused; HD010 not allowed; HD016, HD019,
--          HD023, HD024, HD032, HD040 as howdah.receive.
-- Role     howdah_consumer howdah_admin
create or replace function pgmq.pop(queue_name text, qty integer default 1) returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return query select * from pgmq._read(queue_name, interval '0', qty, null, true, 0); end $$;
