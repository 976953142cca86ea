-- pgmq.list_queues(): list the queues that were made through the facade.
--
-- Returns  pgmq.queue_record of each.
-- Role     everybody
create or replace function pgmq.list_queues() returns setof pgmq.queue_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return query select m.queue_name, m.is_partitioned, m.is_unlogged, m.created_at from pgmq.meta m;
end
$$;
