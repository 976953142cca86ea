-- howdah._role_has_right(p_role, p_destination_id, p_verb): howdah._has_right for a role that is not the caller.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._role_has_right(p_role text, p_destination_id integer, p_verb text) returns boolean
language plpgsql stable
as $$
declare
    v_rule_set text := howdah._rule_set_of(p_role);
begin
    return v_rule_set is null or coalesce((
        select g.allow from howdah.destination_grants g
        where g.destination_id = p_destination_id and g.verb = p_verb and g.rule_set in (v_rule_set, '')
          and howdah._is_principal(p_role, g.kind, g.role_name)
        order by g.tier, g.allow limit 1), false);
end
$$;
