-- pgmq.convert_archive_partitioned(table_name, partition_interval, retention_interval, leading_partition): do nothing,
-- for archives need no partitions.
--
-- Role     howdah_admin
create or replace function pgmq.convert_archive_partitioned(
    table_name text, partition_interval text default '10000', retention_interval text default '100000',
    leading_partition integer default 10
) returns void
language plpgsql volatile
as $$
begin
    if to_regclass(format('pgmq.%I', pgmq.format_table_name(table_name, 'a'))) is null then
        raise notice 'Table %s does not exists', pgmq.format_table_name(table_name, 'a');
    else
        raise notice 'Table %s is already partitioned', pgmq.format_table_name(table_name, 'a');
    end if;
end
$$;
