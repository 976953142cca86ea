-- howdah.revoke_queue(queue, verb, role): revoke a right at a queue.
--
-- Returns  true if the role itself had the right (boolean).
-- Raises   HD001 no such queue; HD005 no such verb; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The role may no longer exist. Its rights remain, for a later role of the same name, until they are revoked.
create or replace function howdah.revoke_queue(queue text, verb text, role text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'admin')).id;
begin
    perform howdah._check_verb(verb);
    delete from howdah.destination_grants g
    where g.destination_id = v_id and g.verb = revoke_queue.verb and g.role_name = revoke_queue.role;
    if found then
        perform howdah._record_change('grant', concat_ws(' ', queue, verb, role), 'dropped',
            jsonb_build_object('queue', queue, 'verb', verb, 'role', role), null);
        return true;
    end if;
    return false;
end
$$;
