-- howdah.explain_access(role, resource, name, operation): whether a role may do something, and which rule decides.
--
-- Returns  one row: allowed; rule, the key of the one that decides; principal, which of the rule's covers the role;
--          rule_set; and why, in words. rule is NULL if none decides. rule_set is NULL if access control is off.
-- Raises   HD003 a wildcard is invalid; HD005 there is no such role, or it is no operation; HD010 called from a
--          maintenance command.
-- Role     howdah_admin howdah_auditor
--
-- An alias has the rules of its target, which are explained then. It tells of access rules alone. To call a function, a
-- role also needs EXECUTE, for which it is a member of Howdah's roles.
create or replace function howdah.explain_access(role text, resource text, name text, operation text) returns table (
    allowed boolean, rule text, principal text, rule_set text, why text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_found record;
    v_destination howdah.destinations;
    v_name text := name;
begin
    perform howdah._refuse_maintenance();
    perform howdah._check_rule(resource, name, operation, true, 'user', '{*}');
    if not exists (select from pg_roles r where r.rolname = explain_access.role) then
        raise exception using errcode = 'HD005', message = format('there is no role %s',
            coalesce(quote_literal(left(role, 100)), 'NULL'));
    end if;
    rule_set := howdah._rule_set_of(role);
    if rule_set is null then
        return query select true, null::text, null::text, null::text, 'access control is off'::text;
        return;
    end if;
    select a.target into v_name
    from howdah.aliases a join howdah.destinations d on d.name = a.target and d.dropped_at is null
    where a.name = explain_access.name and resource = howdah._resource_of(d.kind)
      and operation in ('produce', 'consume', 'browse');
    v_name := coalesce(v_name, name);
    select d.* into v_destination from howdah.destinations d
    where d.name = v_name and d.dropped_at is null
      and resource = howdah._resource_of(d.kind) and operation <> 'create';
    select r.name, r.allow, r.kind, r.principal, r.tier into v_found from (
        select m.* from howdah._matching_rules(resource, array[v_name]) m where v_destination.id is null
        union all
        select m.* from howdah._rules_at(v_destination) m where v_destination.id is not null
        union all
        select '', explain_access.name, explain_access.operation, g.allow, g.kind, g.role_name, g.tier
        from howdah.destination_grants g
        where g.destination_id = v_destination.id and g.rule_set = ''
          and howdah._operation_of(g.verb) = explain_access.operation
    ) r
    where r.rule_set in (explain_access.rule_set, '') and r.operation = explain_access.operation
      and howdah._is_principal(explain_access.role, r.kind, r.principal)
    order by r.tier, r.allow limit 1;
    allowed := coalesce(v_found.allow, false);
    principal := v_found.principal;
    rule := case when v_found.tier < 32000 then howdah._rule_key(resource, v_found.name, operation, v_found.allow,
        v_found.kind) end;
    why := case when v_found.tier is null then 'no rule covers the role'
        when v_found.tier = 32000 then 'the right was copied when the subscription was made'
        when v_found.principal = '*' then format('the rule %s everybody', case when allowed then 'allows' else 'denies'
            end)
        when v_found.kind = 'user' then format('the rule %s the user', case when allowed then 'allows' else 'denies'
            end)
        else format('the rule %s the group %s', case when allowed then 'allows' else 'denies' end, v_found.principal)
        end || case when v_name <> name then format(' (%s is an alias of %s)', quote_literal(name),
            quote_literal(v_name)) else '' end;
    return next;
end
$$;
