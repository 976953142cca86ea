-- howdah._may_change_all_rules(): whether the caller may change any access rule, and which set is in force.
--
-- Returns  boolean.
-- Role     internal
--
-- That takes the right admin at all queues and topics. Where the set in force has no rule about that, the
-- administrators' role has it, so that an empty set locks nobody out. The role that owns Howdah always may.
create or replace function howdah._may_change_all_rules() returns boolean
language plpgsql stable
as $$
declare
    v_rule_set text := howdah._rule_set_of_caller();
begin
    return howdah._has_role((select pg_get_userbyid(n.nspowner)::text from pg_namespace n where n.nspname = 'howdah'))
        or not exists (
            select from (values ('queue'), ('topic')) t(resource)
            where not case when exists (
                    select from howdah.access_rules r
                    where (r.rule_set, r.resource, r.name, r.operation) = (v_rule_set, t.resource, '*', 'admin'))
                then howdah._has_right_by_name(t.resource, '*', 'admin')
                else howdah._has_role((select e.admin_role from howdah.engine e)) end);
end
$$;
