-- howdah._apply_administered(p_kind, p_name, p_is, p_wanted): give wanted properties to a set of access rules, a rule,
-- a service or an administered object.
--
-- Raises   what the verbs raise that it calls.
-- Role     internal
create or replace function howdah._apply_administered(
    p_kind text, p_name text, p_is jsonb, p_wanted jsonb
) returns void
language plpgsql volatile
as $$
declare
    v_set constant text := split_part(p_name, '/', 1);
begin
    if p_kind = 'rule_set' then
        perform howdah.drop_rule_set(p_name) where p_wanted is null;
        perform howdah.create_rule_set(p_name) where p_is is null;
    elsif p_kind = 'rule' then
        perform case when p_wanted is null
            then howdah.drop_rule(v_set, r.resource, r.name, r.operation, r.allow, r.kind)
            else howdah.set_rule(v_set, r.resource, r.name, r.operation, r.allow, r.kind,
                array(select jsonb_array_elements_text(p_wanted -> 'principals'))) end
        from howdah._parse_rules(substr(p_name, strpos(p_name, '/') + 1) || '=*') r;
    elsif p_kind = 'service' then
        perform howdah.alter_service(p_name, howdah._delta(p_is, p_wanted - array['name', 'kind']));
    elsif p_wanted is null then
        perform howdah.alter_object(p_name, '{}', false) where (p_is ->> 'read_only')::boolean;
        perform howdah.drop_object(p_name);
    elsif p_is is null then
        perform howdah.create_object(p_name, p_wanted ->> 'kind', p_wanted -> 'attributes',
            (p_wanted ->> 'read_only')::boolean);
    else
        perform howdah.alter_object(p_name, '{}', false) where (p_is ->> 'read_only')::boolean;
        perform howdah.alter_object(p_name, (
            select coalesce(jsonb_object_agg(k.key, coalesce(p_wanted -> 'attributes' -> k.key, 'null')), '{}')
            from (select jsonb_object_keys(p_is -> 'attributes') as key union
                  select jsonb_object_keys(p_wanted -> 'attributes')) k), (p_wanted ->> 'read_only')::boolean);
    end if;
end
$$;
