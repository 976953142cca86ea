-- howdah.grant_queue(queue, verb, role): grant a role and its members a right at a queue.
--
-- Returns  true if the right is new (boolean).
-- Raises   HD001 no such queue; HD005 no such verb or role; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The verbs are send, receive, browse, admin, pass_all and set_all. IBM MQ asks for pass_all and set_all, besides the
-- first three, of a consumer whose poison messages go to a queue (option check_rights).
create or replace function howdah.grant_queue(queue text, verb text, role text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'admin')).id;
begin
    perform howdah._check_grant(verb, role);
    insert into howdah.destination_grants (destination_id, verb, role_name)
    values (v_id, grant_queue.verb, grant_queue.role)
    on conflict do nothing;
    if found then
        perform howdah._record_change('grant', concat_ws(' ', queue, verb, role), 'created', null,
            jsonb_build_object('queue', queue, 'verb', verb, 'role', role));
        return true;
    end if;
    return false;
end
$$;
