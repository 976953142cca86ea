-- howdah._set_grants(p_name, p_grants): give a destination exactly the rights that howdah._grants_of once returned.
--
-- Role     internal
--
-- Roles that no longer exist get none.
create or replace function howdah._set_grants(p_name text, p_grants jsonb) returns void
language plpgsql volatile
as $$
declare
    v_id constant integer := (select d.id from howdah.destinations d where d.name = p_name and d.dropped_at is null);
begin
    if p_grants is null then
        return;
    end if;
    delete from howdah.destination_grants g
    where g.destination_id = v_id and not p_grants ? concat_ws(' ', g.verb, g.role_name);
    insert into howdah.destination_grants (destination_id, verb, role_name)
    select v_id, w.verb, w.role
    from (select split_part(g.value, ' ', 1) as verb, substr(g.value, strpos(g.value, ' ') + 1) as role
          from jsonb_array_elements_text(p_grants) g(value)) w
    join pg_roles r on r.rolname = w.role
    on conflict do nothing;
end
$$;
