-- howdah._granted(p_destination, p_verb, p_allow, p_kind): the principals of the access rule of the engine's set
-- for one destination and verb.
--
-- Returns  text[]; empty if there is no rule.
-- Role     internal
create or replace function howdah._granted(
    p_destination howdah.destinations, p_verb text, p_allow boolean, p_kind text
) returns text[]
language sql stable
as $$
    select coalesce(max(r.principals), '{}') from howdah.access_rules r join howdah.engine e on e.rule_set = r.rule_set
    where r.resource = howdah._resource_of(p_destination.kind) and r.name = p_destination.name
      and r.operation = howdah._operation_of(p_verb) and r.allow = p_allow and r.kind = p_kind
$$;
