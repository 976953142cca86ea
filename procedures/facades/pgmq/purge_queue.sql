-- pgmq.purge_queue(queue_name): discard all messages of a queue, also those that are hidden.
--
-- Returns  how many.
-- Raises   42P01 no such queue; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function pgmq.purge_queue(queue_name text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform pgmq._refuse(queue_name, 'admin');
    return howdah.purge_queue(lower(queue_name));
end
$$;
