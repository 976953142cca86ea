-- howdah._copy_rights_of(p_ids): keep the lists in howdah.destinations of who may send and receive, which every call
-- reads first.
--
-- Role     internal
--
-- A role in a list has the right, whatever else holds. It is a group, and every set of rules in force allows it the
-- right before any denial. A member of the first role needs no other look. A list that holds only NULL says that
-- howdah._has_right must look at once. The administrators' role comes last.
--
-- Topics have empty receivers, because nobody receives from them. So have temporary queues, whose receivers
-- howdah._destination checks. senders is empty where each message is stamped or a contract holds,
-- because the fast path of a send does neither.
--
-- It is PL/pgSQL, so a session that creates many queues plans it once.
create or replace function howdah._copy_rights_of(p_ids integer[]) returns void
language plpgsql volatile
as $$
begin
    with in_force as materialized (
        select e.rule_set from howdah.engine e
        union select s.rule_set from howdah.services s where s.rule_set is not null
    ), fast as (
        select g.destination_id, g.verb, g.role_name
        from howdah.destination_grants g cross join in_force f
        where g.destination_id = any (p_ids) and g.verb in ('send', 'receive') and g.kind = 'group' and g.allow
          and g.role_name <> '*' and g.rule_set in (f.rule_set, '')
          and not exists (select from howdah.destination_grants n
              where n.destination_id = g.destination_id and n.verb = g.verb and n.rule_set in (f.rule_set, '')
                and not n.allow and n.tier <= g.tier)
        group by g.destination_id, g.verb, g.role_name
        having count(distinct f.rule_set) = (select count(*) from in_force)
    ), listed as (
        select d.id, v.verb, array_agg(f.role_name order by f.role_name = e.admin_role, f.role_name) as roles
        from howdah.destinations d cross join howdah.engine e
        cross join (values ('send'), ('receive')) v(verb)
        left join fast f on f.destination_id = d.id and f.verb = v.verb
        where d.id = any (p_ids)
          and case v.verb when 'send' then not d.stamp_user and d.contract is null
              else d.kind <> 'topic' and not d.name ^@ '_TEMP.' end
        group by d.id, v.verb
    ), lists as (
        select i.id, coalesce(max(l.roles) filter (where l.verb = 'send'), '{}') as senders,
            coalesce(max(l.roles) filter (where l.verb = 'receive'), '{}') as receivers
        from unnest(p_ids) i(id) left join listed l on l.id = i.id group by i.id
    )
    update howdah.destinations d set senders = b.senders, receivers = b.receivers
    from lists b
    where d.id = b.id and (d.senders, d.receivers) is distinct from (b.senders, b.receivers);
end
$$;
