-- howdah.list_services(): the services, with their settings.
--
-- Returns  one row for each. kind: NORMAL or ADMIN. unavailable: why there is no such service, NULL for those that
--          there are. access_enabled and rule_set: NULL stands for the engine's. roles: NULL stands for anybody.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_services() returns table (
    service text, kind text, active boolean, unavailable text, access_enabled boolean, rule_set text, roles text[],
    require_tls boolean, min_connections integer, max_connections integer, idle_seconds integer, model text,
    monitor_limit integer, comment text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select s.name, s.kind, s.active, null, s.access_enabled, s.rule_set, s.roles, s.require_tls, s.min_connections,
        s.max_connections, s.idle_seconds, s.model, s.monitor_limit, s.comment
    from howdah.services s
    union all
    select n.name, 'NORMAL', false, 'PostgreSQL''s protocol is the only transport', null, null, null,
        n.name = 'httpsjms', null, null, null, null, null, null
    from unnest(array['httpjms', 'httpsjms']) n(name)
    order by 1
$$;
