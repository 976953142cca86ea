-- howdah.grant_queue(queue, verb, role): allow a role and its members something at a queue.
--
-- Returns  whether it is new.
-- Raises   HD001 no such queue; HD005 no such verb or role; HD010 not allowed.
-- Role     howdah_admin
--
-- Verbs: send, receive, browse, admin; pass_all and set_all are what IBM MQ asks for, besides the first three, of a consumer whose
-- poison messages go to a queue (option check_rights).
create or replace function howdah.grant_queue(queue text, verb text, role text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'admin')).id;
begin
    perform howdah._check_grant(verb, role);
    insert into howdah.destination_grants (destination_id, verb, role_name) values (v_id, grant_queue.verb, grant_queue.role)
    on conflict do nothing;
    return found;
end
$$;

-- howdah.revoke_queue(queue, verb, role): take such a right back.
--
-- Returns  whether the role had it itself.
-- Raises   HD001 no such queue; HD005 no such verb; HD010 not allowed.
-- Role     howdah_admin
--
-- The role may be gone: its rights stay, for a role of the same name, until they are taken back.
create or replace function howdah.revoke_queue(queue text, verb text, role text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'admin')).id;
begin
    perform howdah._check_verb(verb);
    delete from howdah.destination_grants g
    where g.destination_id = v_id and g.verb = revoke_queue.verb and g.role_name = revoke_queue.role;
    return found;
end
$$;

-- howdah.list_grants(queue): who may do what at a queue.
--
-- Returns  one row a right, those of roles that are gone included (howdah.check_server names them).
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin
create or replace function howdah.list_grants(queue text) returns table (verb text, role text)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'admin')).id;
begin
    return query select g.verb, g.role_name from howdah.destination_grants g where g.destination_id = v_id order by 1, 2;
end
$$;

-- howdah._check_grant(p_verb, p_role): refuse what cannot be granted.
--
-- Raises   HD005 no such verb or role.
-- Role     internal
create or replace function howdah._check_grant(p_verb text, p_role text) returns void
language plpgsql stable
as $$
begin
    perform howdah._check_verb(p_verb);
    if not exists (select from pg_roles r where r.rolname = p_role) then
        raise exception using errcode = 'HD005', message = format('there is no role %s', coalesce(quote_literal(p_role), 'NULL'));
    end if;
end
$$;

-- howdah._check_verb(p_verb): refuse what is no verb of a right.
--
-- Raises   HD005 no such verb.
-- Role     internal
create or replace function howdah._check_verb(p_verb text) returns void
language plpgsql immutable
as $$
begin
    if p_verb is null or p_verb not in ('send', 'receive', 'browse', 'admin', 'pass_all', 'set_all') then
        raise exception using errcode = 'HD005', message = format('there is no verb %s', coalesce(quote_literal(p_verb), 'NULL')),
            hint = 'Verbs are: send, receive, browse, admin, pass_all, set_all.';
    end if;
end
$$;
