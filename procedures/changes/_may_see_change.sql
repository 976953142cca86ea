-- howdah._may_see_change(p_kind, p_name, p_properties): whether the caller may read a change.
--
-- Returns  boolean.
-- Role     internal
--
-- Administrators read all changes. Others read those of queues, topics and subscriptions that they may browse or
-- receive from, and of what belongs to these. If several things had one name, the living or last one counts, because
-- another team may have the name now. Rules, users, services, objects and redaction rules are for administrators and
-- auditors.
--
-- Each half of the lookup by name has an index.
create or replace function howdah._may_see_change(p_kind text, p_name text, p_properties jsonb) returns boolean
language plpgsql volatile
as $$
begin
    return (select howdah._has_role(e.admin_role) or case
        when p_kind in ('engine', 'policy', 'cluster', 'instance') then true
        when p_kind in ('queue', 'topic', 'subscription', 'alias', 'bridge', 'listener', 'link', 'grant', 'schedule')
        then exists (
            select from (
                select d.id, d.dropped_at from howdah.destinations d where d.name = n.name and d.dropped_at is null
                union all
                select d.id, d.dropped_at from howdah.destinations d where d.name = n.name and d.dropped_at is not null
                order by dropped_at desc nulls first limit 1
            ) d where howdah._has_right(d.id, 'browse') or howdah._has_right(d.id, 'receive'))
        else howdah._has_role(e.auditor_role) end
    from howdah.engine e
    cross join (select coalesce(case when p_kind not in ('queue', 'topic', 'subscription') then coalesce(
        p_properties ->> 'queue', p_properties ->> 'source', p_properties ->> 'target') end, p_name) as name) n);
end
$$;
