-- howdah._rules_at(p_destination): the rules that cover a destination, as howdah._matching_rules.
--
-- Role     internal
--
-- A subscription has the rules of its topic, after those of its own name. The rights copied at its creation stand
-- behind them all. A rule that denies its topic to everybody else is left out there, so that the copied ones count. A
-- subscription by wildcard has only its own rules and rights: howdah.receive asks for each topic's right.
--
-- Rules by wildcard let nobody send to the system exception destination.
create or replace function howdah._rules_at(p_destination howdah.destinations)
returns table (
    rule_set text, name text, operation text, allow boolean, kind text, principal text, tier integer
)
language sql stable
as $$
    select m.rule_set, m.name, m.operation, m.allow, m.kind, m.principal, m.tier
    from (select (select s.topic from howdah.subscriptions s where s.destination_id = p_destination.id) as topic) s
    cross join lateral (select s.topic, s.topic ~ '[*>]' as wild) t
    cross join lateral howdah._matching_rules(case p_destination.kind when 'queue' then 'queue' else 'topic' end,
        array[p_destination.name] || case when t.wild is false then array[t.topic] else array[]::text[] end) m
    where not (p_destination.kind = 'subscription' and (
            t.wild is not false and m.tier >= 20
            or m.tier >= 20 and m.principal = '*' and not m.allow
            or m.operation = 'produce'))
      and not (p_destination.is_system and m.operation = 'produce' and m.tier >= 20)
$$;
