-- howdah._matching_rules(p_resource, p_names): the rules that cover a thing, and in which order they decide.
--
-- Returns  one row for each principal of each rule. The lowest tier with a principal that matches the caller decides.
--          In one tier, a denial precedes a permission.
-- Role     internal
--
-- p_names are the thing's own name and perhaps others, whose rules come next. Wildcards cover the last one. The more
-- specific name precedes: an exact one, then wildcards as in howdah._most_specific, then *. For one name, a named user
-- precedes a named group, and that all users, and these all groups. Tiers: 10 to 13 the own name, 20 to 23 another one,
-- from 30 on wildcards.
create or replace function howdah._matching_rules(p_resource text, p_names text[])
returns table (
    rule_set text, name text, operation text, allow boolean, kind text, principal text, tier integer
)
language sql stable
as $$
    select r.rule_set, r.name, r.operation, r.allow, r.kind, r.principal,
        case when r.place is not null then 10 * r.place
            else 26 + 4 * dense_rank() over (order by r.place nulls last, r.name = '*', r.parts, length(r.name) desc,
                r.name)::integer end
        + case when r.principal = '*' then 2 else 0 end + case r.kind when 'group' then 1 else 0 end
    from (
        select m.*, p.principal, case when strpos(m.name, '*') + strpos(m.name, '>') > 0 then
            array(select case s.part when '*' then 1 when '>' then 2 else 0 end
                  from unnest(string_to_array(m.name, '.')) with ordinality s(part, n) order by s.n) end as parts
        from (
            select a.*, array_position(p_names, a.name) as place
            from howdah.access_rules a
            where a.resource = p_resource and a.name = any (p_names)
            union all
            select a.*, null::integer
            from howdah.access_rules a
            where a.resource = p_resource and a.name ~ '[*>]' and not a.name = any (p_names)
              and howdah._rule_matches(a.name, p_names[cardinality(p_names)])
        ) m
        cross join lateral unnest(m.principals) p(principal)
    ) r
$$;
