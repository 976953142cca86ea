-- howdah._copy_grants_of(p_destination_id): keep the copies of howdah._copy_grants for one destination.
--
-- Role     internal
--
-- The administrators' role comes last, for the first one is tried first. Receives from what is no queue take another
-- way, so nobody stands there; nor of a temporary queue, whose receivers howdah._destination looks at; nor do senders
-- where each message is stamped, which the quick way of a send does not do.
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
