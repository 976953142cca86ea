-- howdah._copy_grants_of(p_destination_id): keep the lists of howdah._copy_grants for one destination.
--
-- Role     internal
--
-- The administrators' role comes last, because the first role is tried first. receivers is empty for what is no queue,
-- whose receives take another way. It is empty for a temporary queue, whose receivers howdah._destination checks.
-- senders is empty where each message is stamped, which the fast way of sending does not do.
create or replace function howdah._copy_grants_of(p_destination_id integer) returns void
language sql volatile
as $$
    update howdah.destinations d
    set senders = array(select g.role_name from howdah.destination_grants g
                        where g.destination_id = d.id and g.verb = 'send' and not d.stamp_user
                        order by g.role_name = e.admin_role, g.role_name),
        receivers = array(select g.role_name from howdah.destination_grants g
                          where g.destination_id = d.id and g.verb = 'receive' and d.kind = 'queue'
                            and not d.name ^@ '_TEMP.'
                          order by g.role_name = e.admin_role, g.role_name)
    from howdah.engine e
    where d.id = p_destination_id
$$;
