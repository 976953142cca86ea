-- howdah._grant_rule(p_destination, p_verb, p_allow, p_kind, p_principals): store or drop the access rule of the
-- engine's set for one destination and verb; see howdah._change_rule.
--
-- Returns  whether anything changed (boolean).
-- Role     internal
create or replace function howdah._grant_rule(
    p_destination howdah.destinations, p_verb text, p_allow boolean, p_kind text, p_principals text[]
) returns boolean
language sql volatile
as $$
    select howdah._change_rule(e.rule_set, howdah._resource_of(p_destination.kind), p_destination.name,
        howdah._operation_of(p_verb), p_allow, p_kind, p_principals)
    from howdah.engine e
$$;
