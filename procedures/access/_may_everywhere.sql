-- howdah._may_everywhere(p_resource, p_pattern, p_operation): whether the access rules let the caller do something at
-- every name that a wildcard covers.
--
-- Returns  boolean.
-- Raises   HD010 called from a maintenance command.
-- Role     internal
--
-- It asks howdah._has_right_by_name about names that stand for all of them. One of each length has parts that no rule
-- names. For each denial, there are names where it may decide: they have the denial's parts in place of a star. The
-- longest is longer than all rules.
create or replace function howdah._may_everywhere(p_resource text, p_pattern text, p_operation text) returns boolean
language sql stable
as $$
    select bool_and(howdah._has_right_by_name(p_resource, s.name, p_operation))
    from (
        select string_agg(coalesce(nullif(nullif(p.parts[i.i], '*'), '>'), nullif(nullif(d.parts[i.i], '*'),
            '>'), chr(1)), '.' order by i.i) as name, d.name as denied
        from (select string_to_array(p_pattern, '.') as parts) p
        cross join (
            select null as name, array[]::text[] as parts
            union all
            select r.name, string_to_array(r.name, '.') from howdah.access_rules r
            where (r.resource, r.operation, r.allow) = (p_resource, p_operation, false)
              and r.rule_set = howdah._rule_set_of_caller()
        ) d
        cross join lateral generate_series(1, 1 + greatest(cardinality(p.parts), (
            select max(cardinality(string_to_array(r.name, '.'))) from howdah.access_rules r
            where r.resource = p_resource))) n(length)
        cross join lateral generate_series(1, n.length) i(i)
        group by d.name, d.parts, n.length
    ) s
    where howdah._matches_wildcard(s.name, p_pattern)
      and (s.denied is null or howdah._rule_matches(s.denied, s.name))
$$;
