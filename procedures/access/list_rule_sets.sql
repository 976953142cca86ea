-- howdah.list_rule_sets(): list the sets of access rules.
--
-- Returns  one row per set. in_force: the engine or a service names it.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.list_rule_sets() returns table (
    name text, rules bigint, in_force boolean, changed_at timestamptz, created_at timestamptz, created_by text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    return query
    select s.name::text, (select count(*) from howdah.access_rules r where r.rule_set = s.name),
        exists (select from howdah.engine e where e.rule_set = s.name)
            or exists (select from howdah.services v where v.rule_set = s.name),
        s.changed_at, s.created_at, s.created_by
    from howdah.access_rule_sets s order by s.name;
end
$$;
