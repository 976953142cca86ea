-- howdah.list_grants(queue): list who may do what at a queue.
--
-- Returns  one row per right, including those of roles that no longer exist (howdah.check_server names them).
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin
create or replace function howdah.list_grants(queue text) returns table (verb text, role text)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'admin')).id;
begin
    return query select g.verb, g.role_name from howdah.destination_grants g where g.destination_id = v_id order by 1,
        2;
end
$$;
