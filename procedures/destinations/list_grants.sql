-- howdah.list_grants(queue): list who may do what at a queue.
--
-- Returns  one row per right, including those of roles that no longer exist (howdah.check_server names them). The role
--          * is everybody. A right may still be denied to some of a role's members: see howdah.explain_access.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin
create or replace function howdah.list_grants(queue text) returns table (verb text, role text)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'admin')).id;
begin
    return query
    select distinct g.verb, g.role_name
    from howdah.destination_grants g join howdah.engine e on g.rule_set in (e.rule_set, '')
    where g.destination_id = v_id and g.allow
      and not exists (select from howdah.destination_grants n
          where n.destination_id = v_id and n.verb = g.verb and n.rule_set in (e.rule_set, '') and not n.allow
            and (n.role_name = '*' and (n.tier < g.tier or n.tier = g.tier and g.role_name = '*')
                or (n.kind, n.role_name) = (g.kind, g.role_name) and n.tier <= g.tier))
    order by 1, 2;
end
$$;
