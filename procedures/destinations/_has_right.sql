-- howdah._has_right(p_destination_id, p_verb, p_copy): whether the caller has a right to a destination.
--
-- Returns  boolean; true if access control is off for the caller. p_copy: the roles that howdah._copy_rights_of keeps
--          for a fast path. If there are none, {}, the answer is false, because the fast path is not to be taken.
-- Raises   HD010 as howdah._refuse_maintenance.
-- Role     internal
--
-- Everything that asks for a right asks here. Only the fast paths look at the first role of howdah._copy_rights_of
-- before. Each receive by a wildcard asks for each topic. The subscriber did not know which topics would match, nor who
-- may read them later.
--
-- The first tier that matches the caller decides. In one tier, a denial precedes a permission. Each call looks
-- memberships up, because PostgreSQL tells nobody of a GRANT.
create or replace function howdah._has_right(
    p_destination_id integer, p_verb text, p_copy text[] default null
) returns boolean
language plpgsql stable cost 1
as $$
declare
    v_rule_set text;
    v_allow boolean;
begin
    if p_copy = '{}' then
        return false;
    end if;
    v_rule_set := howdah._rule_set_of_caller();
    v_allow := v_rule_set is null;
    if not v_allow then
        select g.allow into v_allow from howdah.destination_grants g
        where g.destination_id = p_destination_id and g.verb = p_verb and g.rule_set in (v_rule_set, '')
          and case when g.role_name = '*' then true when g.kind = 'user' then g.role_name = howdah._caller()
              else howdah._has_role(g.role_name) end
        order by g.tier, g.allow limit 1;
    end if;
    return v_allow is true and howdah._refuse_maintenance();
end
$$;
