-- pgmq.create_partitioned(queue_name, partition_interval, retention_interval, premake): create a queue that pgmq would
-- partition.
--
-- Raises   P0001 a bad name, or premake is below 1; HD003 a name that howdah does not allow; HD010 not allowed; HD027
--          the engine is full.
-- Role     howdah_admin
--
-- howdah needs no partitions: a queue gives its space back. Nothing is ever deleted because of its age, so
-- retention_interval has no effect.
create or replace function pgmq.create_partitioned(
    queue_name text, partition_interval text default '10000', retention_interval text default '100000',
    premake integer default 4
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if premake < 1 then
        raise exception 'premake must be at least 1, got %', premake;
    end if;
    perform pgmq._create(queue_name, true, false);
end
$$;
