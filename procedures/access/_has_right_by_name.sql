-- howdah._has_right_by_name(p_resource, p_name, p_operation): whether the access rules let the caller do something
-- under a name, such as create a queue or connect. No destination needs to exist.
--
-- Returns  boolean.
-- Raises   HD010 called from a maintenance command.
-- Role     internal
--
-- p_resource is connection, queue or topic. A connection's name is NORMAL or ADMIN, and its operation is connect.
create or replace function howdah._has_right_by_name(p_resource text, p_name text, p_operation text) returns boolean
language plpgsql stable
as $$
declare
    v_rule_set text := howdah._rule_set_of_caller();
begin
    return (v_rule_set is null or coalesce((
        select m.allow from howdah._matching_rules(p_resource, array[p_name]) m
        where m.rule_set = v_rule_set and m.operation = p_operation
          and case when m.principal = '*' then true when m.kind = 'user' then m.principal = howdah._caller()
              else howdah._has_role(m.principal) end
        order by m.tier, m.allow limit 1), false)) and howdah._refuse_maintenance();
end
$$;
