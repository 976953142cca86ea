-- howdah.list_storage(): list the sizes and storage parameters of the tables that hold messages, and of the journal.
--
-- Returns  one row per table: bytes with indexes, live and dead rows, when it was last vacuumed, and the parameters
--          that are set. The journal and kept messages have one row each for all partitions.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.list_storage() returns table (
    table_name text, bytes bigint, live_rows bigint, dead_rows bigint, vacuumed_at timestamptz, options jsonb
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select c.relname::text, pg_total_relation_size(c.oid), pg_stat_get_live_tuples(c.oid),
        pg_stat_get_dead_tuples(c.oid), greatest(pg_stat_get_last_vacuum_time(c.oid),
            pg_stat_get_last_autovacuum_time(c.oid)),
        coalesce((select jsonb_object_agg(o.option_name, o.option_value) from pg_options_to_table(c.reloptions) o),
            '{}')
    from pg_class c
    where c.relnamespace = 'howdah'::regnamespace and c.relname in ('msgs', 'msgs_nonpersistent', 'parked', 'leased',
        'bodies')
    union all
    select 'journal', sum(pg_total_relation_size(t.relid))::bigint, sum(pg_stat_get_live_tuples(t.relid))::bigint,
        sum(pg_stat_get_dead_tuples(t.relid))::bigint, max(greatest(pg_stat_get_last_vacuum_time(t.relid),
            pg_stat_get_last_autovacuum_time(t.relid))), '{}'
    from pg_partition_tree('howdah.journal') t where t.isleaf
    union all
    select 'kept_messages', sum(pg_total_relation_size(t.relid))::bigint,
        sum(pg_stat_get_live_tuples(t.relid))::bigint, sum(pg_stat_get_dead_tuples(t.relid))::bigint,
        max(greatest(pg_stat_get_last_vacuum_time(t.relid), pg_stat_get_last_autovacuum_time(t.relid))), '{}'
    from pg_partition_tree('howdah.kept_messages') t where t.isleaf
    order by 1
$$;
