-- howdah._set_grants(p_name, p_grants, p_is_new): give a destination exactly the copied rights that howdah._grants_of
-- once returned.
--
-- Raises   HD010 the caller does not administer it.
-- Role     internal
--
-- Roles that no longer exist get none. p_grants NULL: the rights stay. p_is_new: the destination was made just now, and
-- its record says it all.
create or replace function howdah._set_grants(p_name text, p_grants jsonb, p_is_new boolean) returns void
language plpgsql volatile
as $$
declare
    v_id constant integer := (select d.id from howdah.destinations d where d.name = p_name and d.dropped_at is null);
    v_is constant jsonb := howdah._grants_of(v_id);
begin
    if p_grants is null or p_grants = v_is then
        return;
    end if;
    perform howdah._destination(p_name, 'admin');
    insert into howdah.destination_grants (destination_id, verb, kind, role_name)
    select v_id, w.part[1], w.part[2], w.part[3]
    from jsonb_array_elements_text(p_grants) g(value)
    cross join regexp_match(g.value, '^(send|receive|browse|admin|pass_all|set_all) (user|group) (.+)$') w(part)
    where w.part[3] = '*' or exists (select from pg_roles r where r.rolname = w.part[3])
    on conflict do nothing;
    delete from howdah.destination_grants g
    where g.destination_id = v_id and g.rule_set = '' and not p_grants ? concat_ws(' ', g.verb, g.kind, g.role_name);
    perform howdah._record_change('grant', p_name, 'altered', jsonb_build_object('queue', p_name, 'grants', v_is),
        jsonb_build_object('queue', p_name, 'grants', howdah._grants_of(v_id))) where not p_is_new;
end
$$;
