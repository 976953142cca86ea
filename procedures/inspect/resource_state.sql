-- howdah.resource_state(exact): how full the whole engine is.
--
-- Returns  one row. state: green, yellow, orange or red, by the thresholds of howdah.alter_engine. messages and bytes
--          (of bodies): what queues and subscriptions hold. max_count and max_bytes: the limits; NULL: none. percent:
--          of the nearer limit; NULL: there is none. database_bytes: the database's size on disk.
-- Raises   HD037 on a standby.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- It counts every message, unless exact is false. Then messages are those that maintain_backlog counted last (NULL:
-- never), bytes are NULL, and percent is of max_count alone. Where bytes are limited, state is then that of the last
-- send.
create or replace function howdah.resource_state(exact boolean default true) returns table (
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
    from howdah.engine e
    cross join lateral (
        select c.* from howdah._resources() c where exact
        union all
        select k.messages, null, case when e.max_bytes is null then k.level
            else coalesce(pg_sequence_last_value('howdah.system_state') & 3, 0)::integer end
        from howdah._kept_resources() k where exact is not true
    ) r;
end
$$;
