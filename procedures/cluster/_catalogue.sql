-- howdah._catalogue(): all that administrators have made, as it is now, in an order in which it can be made.
--
-- Returns  rows of n (the order), kind, name and properties; those of destinations have their grants.
-- Role     internal
--
-- Schedules, parameters of storage and what the engine makes by itself are not in it. It has queues and topics that
-- created themselves only if they were paused, or if something else in it needs them.
create or replace function howdah._catalogue() returns table (n bigint, kind text, name text, properties jsonb)
language sql volatile
as $$
    select row_number() over (order by t.step, t.made), t.kind, t.name, t.properties || case
        when t.id is not null then jsonb_build_object('grants', howdah._grants_of(t.id)) else '{}' end
    from (
        select f.step, f.made, f.kind, f.name, f.id, howdah._properties(f.kind, f.name) as properties
        from (
            select 1 as step, 0::bigint as made, 'engine' as kind, e.name, null::integer as id from howdah.engine e
            union all select -1, 0, 'rule_set', r.name, null from howdah.access_rule_sets r
            union all select 0, 0, 'rule', concat_ws('/', r.rule_set,
                howdah._rule_key(r.resource, r.name, r.operation, r.allow, r.kind)), null from howdah.access_rules r
            union all select 2, 0, 'transformation', t.name, null from howdah.transformations t
            union all select 2, 1, 'policy', p.pattern, null from howdah.destination_policies p
            union all select 2, 2, 'redaction', r.pattern || ' ' || r.path, null from howdah.redactions r
            union all select case d.kind when 'subscription' then 5 else 3 end, d.id, d.kind, d.name, d.id
            from howdah.destinations d
            where d.dropped_at is null
              and (not d.auto_created or d.own_sending_paused or d.own_receiving_paused
                  or d.name in (select a.target from howdah.aliases a
                      union all select s.topic from howdah.subscriptions s where s.durable)
                  or d.id in (select l.destination_id from howdah.listeners l
                      union all select l.source_id from howdah.links l
                      union all select unnest(array[b.topic_id, b.queue_id]) from howdah.bridges b))
            union all select 6, 0, 'alias', a.name, null from howdah.aliases a
            union all select 7, 0, 'bridge', concat_ws(' ', t.name, q.name), null
            from howdah.bridges b join howdah.destinations t on t.id = b.topic_id
            join howdah.destinations q on q.id = b.queue_id
            union all select 8, l.id, 'listener', l.name, null from howdah.listeners l
            union all select 9, 0, 'link', l.name, null from howdah.links l
            union all select 10, 0, 'service', s.name, null from howdah.services s
            union all select 11, 0, 'object', o.name, null from howdah.objects o
        ) f
    ) t
    where t.properties is not null
    order by t.step, t.made, t.name
$$;
