-- howdah._copy_rights(p_subscription_id, p_topics, p_by_wildcard): give the rights to receive from, browse and
-- administer a topic at its subscription, too.
--
-- Role     internal
--
-- They are copied, and stay when the topic's are revoked. A rule that denies the topic to a user or a group counts at
-- its subscription nevertheless (howdah._rules_at).
--
-- A wildcard subscription belongs to its creator and to the administrators, and to roles that have the right at all
-- topics that match now. With the rights of a new queue, every consumer could fail, acknowledge and end what it may not
-- read.
create or replace function howdah._copy_rights(
    p_subscription_id integer, p_topics integer[], p_by_wildcard boolean
) returns void
language plpgsql volatile
as $$
declare
    v_rule_set text := coalesce(howdah._rule_set_of_caller(), (select e.rule_set from howdah.engine e));
begin
    perform howdah._compile_rights(array[p_subscription_id]);
    insert into howdah.destination_grants (destination_id, rule_set, verb, kind, role_name)
    select p_subscription_id, '', g.verb, g.kind, g.role_name
    from howdah.destination_grants g
    where g.destination_id = any (p_topics) and g.verb <> 'send' and g.allow and g.rule_set = v_rule_set
    group by g.verb, g.kind, g.role_name having count(*) = cardinality(p_topics)
    union
    select p_subscription_id, '', v.verb, 'group', howdah._caller()
    from (values ('receive'), ('browse')) v(verb) where p_by_wildcard
    union
    select p_subscription_id, '', v.verb, 'group', e.admin_role
    from (values ('receive'), ('browse'), ('admin')) v(verb) cross join howdah.engine e where p_by_wildcard
    on conflict do nothing;
end
$$;
