-- pgmq.read(queue_name, vt, qty, conditional): read visible messages, and hide them for vt seconds.
--
-- Returns  the messages, those with the lowest numbers first.
-- Raises   42P01 no such queue; 2201W qty is negative; 23502 vt is NULL; 0A000 a condition for a queue with an order of
--          its own; HD009 receiving is paused; HD010 not allowed; HD016, HD019, HD023, HD024, HD032, HD040 as
--          howdah.receive.
-- Role     howdah_consumer howdah_admin
--
-- Each read counts in read_ct. conditional: only messages that contain this JSON.
create or replace function pgmq.read(queue_name text, vt integer, qty integer, conditional jsonb default '{}')
returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query
    select * from pgmq._read(queue_name, make_interval(secs => vt), qty, nullif(conditional, '{}'), false);
end
$$;
