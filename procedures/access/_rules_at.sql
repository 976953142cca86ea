-- howdah._rules_at(p_destination): the rules that cover a destination, as howdah._matching_rules.
--
-- Role     internal
--
-- A subscription has the rules of its topic, after those of its own name. The rights copied at its creation stand
-- behind them all. Where a rule denies the topic to everybody else, the topic's rules end before it, so that the copied
-- rights count. A subscription by wildcard has only its own rules and rights: howdah.receive asks for each topic's.
--
-- Rules by wildcard let nobody send to the system exception destination.
create or replace function howdah._rules_at(p_destination howdah.destinations)
returns table (
    rule_set text, name text, operation text, allow boolean, kind text, principal text, tier integer
)
language sql stable
as $$
    select r.rule_set, r.name, r.operation, r.allow, r.kind, r.principal, r.tier
    from (
        select m.*, t.wild,
            min(m.tier) filter (where m.tier >= 20 and m.principal = '*' and not m.allow)
                over (partition by m.rule_set, m.operation) as closed
        from (select (select s.topic from howdah.subscriptions s where s.destination_id = p_destination.id) as topic) s
        cross join lateral (select s.topic, s.topic ~ '[*>]' as wild) t
        cross join lateral howdah._matching_rules(howdah._resource_of(p_destination.kind),
            array[p_destination.name] || case when t.wild is false then array[t.topic] else array[]::text[] end) m
    ) r
    where not (p_destination.kind = 'subscription'
            and (r.operation = 'produce' or r.tier >= 20 and r.wild is not false or (r.tier >= r.closed) is true))
      and not (p_destination.name ^@ '_SYSTEM.Exception.Destination.' and r.operation = 'produce' and r.tier >= 20)
$$;
