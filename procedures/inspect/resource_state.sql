-- howdah.resource_state(): count how full the whole engine is now.
--
-- Returns  one row. state: green, yellow, orange or red, by the thresholds of howdah.alter_engine. messages and bytes
--          (of bodies): what queues and subscriptions hold. max_count and max_bytes: the limits; NULL: none. percent:
--          of the nearer limit; NULL: there is none. database_bytes: the database's size on disk.
-- Raises   HD037 on a standby.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.resource_state() returns table (
    state text, messages bigint, bytes bigint, max_count bigint, max_bytes bigint, percent numeric,
    database_bytes bigint
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._check_all_here();
    return query
    select (array['green', 'yellow', 'orange', 'red'])[r.level + 1], r.messages, r.bytes, e.max_count, e.max_bytes,
        round(greatest(100.0 * r.messages / e.max_count, 100.0 * r.bytes / e.max_bytes), 1),
        pg_database_size(current_database())
    from howdah.engine e cross join lateral howdah._resources() r;
end
$$;
