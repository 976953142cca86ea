-- howdah._default_rules(): the access rules of a new installation.
--
-- Returns  one row per rule.
-- Role     internal
--
-- As in Sun ONE MQ, everybody may connect, and administrators may administer. Howdah's roles have their rights at every
-- queue and topic. Producers and consumers may create what they use first, where auto-creation is on.
create or replace function howdah._default_rules() returns table (
    resource text, name text, operation text, allow boolean, kind text, principals text[]
)
language sql stable
as $$
    select 'connection', 'NORMAL', 'connect', true, 'user', array['*']
    union all
    select 'connection', 'ADMIN', 'connect', true, 'group', array[e.admin_role] from howdah.engine e
    union all
    select t.resource, '*', o.operation, true, 'group', array(select distinct r.role_name from unnest(o.roles)
        r(role_name) order by 1)
    from howdah.engine e
    cross join (values ('queue'), ('topic')) t(resource)
    cross join lateral (values ('produce', array[e.producer_role, e.admin_role]),
        ('consume', array[e.consumer_role, e.admin_role]),
        ('browse', array[e.browser_role, e.consumer_role, e.auditor_role, e.admin_role]),
        ('create', array[e.producer_role, e.consumer_role, e.admin_role]),
        ('admin', array[e.admin_role])) o(operation, roles)
$$;
