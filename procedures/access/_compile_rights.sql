-- howdah._compile_rights(p_ids): write into destination_grants what the access rules come to at destinations.
--
-- Role     internal
--
-- Rows that can decide nothing are left out: those behind one that covers everybody, and a principal's later ones.
-- Memberships are not compiled; they are looked up at each call. Copied rights (rule_set empty) stay as they are.
--
-- It is PL/pgSQL, so a session that creates many queues plans it once.
create or replace function howdah._compile_rights(p_ids integer[]) returns void
language plpgsql volatile
as $$
begin
    with covering as (
        select d.id, r.rule_set, case r.operation when 'produce' then 'send' when 'consume' then 'receive'
            else r.operation end as verb, r.kind, r.principal, r.allow, r.tier,
            min(r.tier) filter (where r.principal = '*') over (partition by d.id, r.rule_set, r.operation) as last
        from howdah.destinations d cross join lateral howdah._rules_at(d) r
        where d.id = any (p_ids) and r.operation not in ('create', 'connect')
    ), compiled as materialized (
        select distinct on (c.id, c.rule_set, c.verb, c.kind, c.principal) c.*
        from covering c where c.last is null or c.tier <= c.last
        order by c.id, c.rule_set, c.verb, c.kind, c.principal, c.tier, c.allow
    ), gone as (
        delete from howdah.destination_grants g
        where g.destination_id = any (p_ids) and g.rule_set <> ''
          and not exists (select from compiled c where (c.id, c.rule_set, c.verb, c.kind, c.principal)
              = (g.destination_id, g.rule_set, g.verb, g.kind, g.role_name))
    )
    insert into howdah.destination_grants as g (destination_id, rule_set, verb, kind, role_name, allow, tier)
    select c.id, c.rule_set, c.verb, c.kind, c.principal, c.allow, c.tier from compiled c
    on conflict (destination_id, rule_set, verb, kind, role_name) do update
        set allow = excluded.allow, tier = excluded.tier
        where (g.allow, g.tier) <> (excluded.allow, excluded.tier);
end
$$;
