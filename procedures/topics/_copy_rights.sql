-- howdah._copy_rights(p_subscription_id, p_topics, p_by_wildcard): give the rights to receive from, browse and
-- administer a topic at its subscription, too.
--
-- Role     internal
--
-- A wildcard subscription belongs to its creator and to the administrators, and to roles that have the right at all
-- topics that match now. With the rights of a new queue, every consumer could fail, acknowledge and end what it may not
-- read.
create or replace function howdah._copy_rights(
    p_subscription_id integer, p_topics integer[], p_by_wildcard boolean
) returns void
language sql volatile
as $$
    delete from howdah.destination_grants g using howdah.engine e
    where g.destination_id = p_subscription_id and (g.verb = 'send' or not p_by_wildcard
        or g.role_name <> e.admin_role);
    insert into howdah.destination_grants (destination_id, verb, role_name)
    select p_subscription_id, g.verb, g.role_name from howdah.destination_grants g
    where g.destination_id = any (p_topics) and g.verb <> 'send'
    group by g.verb, g.role_name having count(*) = cardinality(p_topics)
    on conflict do nothing;
    insert into howdah.destination_grants (destination_id, verb, role_name)
    select p_subscription_id, v.verb, howdah._caller() from (values ('receive'), ('browse')) v(verb) where p_by_wildcard
    on conflict do nothing
$$;
