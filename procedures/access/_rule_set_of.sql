-- howdah._rule_set_of(p_role): the set of access rules that holds for a role.
--
-- Returns  text; NULL if access control is off for it.
-- Role     internal
--
-- A role belongs to the first service, administrators' ones first, that lists a role which it has; else to jms. What
-- the session says (howdah.service) does not count: anybody can set it.
create or replace function howdah._rule_set_of(p_role text) returns text
language plpgsql stable
as $$
declare
    v_engine record;
begin
    select e.access_enabled, e.rule_set into v_engine from howdah.engine e;
    if exists (select from howdah.services s where s.access_enabled is not null or s.rule_set is not null) then
        select coalesce(s.access_enabled, v_engine.access_enabled) as access_enabled,
            coalesce(s.rule_set, v_engine.rule_set) as rule_set
        into v_engine
        from (select) o left join howdah.services s on s.name = coalesce((
            select c.name from howdah.services c
            where exists (select from unnest(c.roles) r(role_name) where howdah._is_member(p_role, r.role_name))
            order by c.kind, c.name limit 1), 'jms');
    end if;
    return case when v_engine.access_enabled then v_engine.rule_set end;
end
$$;
