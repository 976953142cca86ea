-- howdah._deny_others(p_destination, p_verb, p_role): give a destination rules of its own for a verb, so that one role
-- loses the right and all others keep it.
--
-- Role     internal
--
-- It writes out what comes by wildcard: rules under the destination's name that allow or deny the principals, and one
-- that denies everybody else. A user whom a wildcard allows behind a denied group is left out.
create or replace function howdah._deny_others(p_destination howdah.destinations, p_verb text, p_role text) returns void
language plpgsql volatile
as $$
begin
    perform howdah._grant_rule(p_destination, p_verb, o.allow, o.kind, o.roles)
    from (
        select g.allow, g.kind, array_agg(g.role_name order by g.role_name) as roles
        from howdah.destination_grants g join howdah.engine e on g.rule_set in (e.rule_set, '')
        where g.destination_id = p_destination.id and g.verb = p_verb and g.role_name <> '*'
          and not (g.allow and g.role_name = p_role)
          and not (g.allow and g.kind = 'user' and exists (select from howdah.destination_grants n
              where n.destination_id = g.destination_id and n.verb = g.verb and n.rule_set = g.rule_set
                and not n.allow and n.kind = 'group' and n.tier < g.tier))
        group by g.allow, g.kind
    ) o;
    perform howdah._grant_rule(p_destination, p_verb, true, 'user',
        array_remove(howdah._granted(p_destination, p_verb, true, 'user'), '*'));
    perform howdah._grant_rule(p_destination, p_verb, false, 'user',
        array_append(array_remove(howdah._granted(p_destination, p_verb, false, 'user'), '*'), '*'));
end
$$;
