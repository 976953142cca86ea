-- howdah.list_rules(rule_set): list the access rules of a set.
--
-- Returns  one row per rule.
-- Raises   HD005 there is no such set; HD010 not allowed.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.list_rules(rule_set text default 'default') returns table (
    resource text, name text, operation text, allow boolean, kind text, principals text[]
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    perform howdah._rule_set(rule_set);
    return query
    select r.resource, r.name::text, r.operation, r.allow, r.kind, r.principals from howdah.access_rules r
    where r.rule_set = list_rules.rule_set
    order by r.resource, r.name, r.operation, r.allow desc, r.kind desc;
end
$$;
