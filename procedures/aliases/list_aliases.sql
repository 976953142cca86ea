-- howdah.list_aliases(): list the aliases of queues and topics, by name.
--
-- Returns  one row per alias. A level or flag that is NULL is inherited from the target.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_aliases() returns table (
    alias text, target text, default_reliability text, max_reliability text, producer_may_override boolean,
    created_at timestamptz, created_by text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select a.name, a.target, a.default_reliability, a.max_reliability, a.producer_may_override, a.created_at,
        a.created_by
    from howdah.aliases a
    where (select howdah._sees_all()) or howdah._sees((
        select d.id from howdah.destinations d where d.name = a.target and d.dropped_at is null))
    order by a.name
$$;
