-- howdah._rule_key(p_resource, p_name, p_operation, p_allow, p_kind): a rule's key in the syntax of properties.
--
-- Returns  text, such as queue.q1.produce.deny.user.
-- Role     internal
create or replace function howdah._rule_key(
    p_resource text, p_name text, p_operation text, p_allow boolean, p_kind text
) returns text
language sql immutable
as $$
    select concat_ws('.', p_resource, case when p_operation = 'create' and p_name = '*' then null else
        regexp_replace(p_name, E'([\\\\=])', E'\\\\\\1', 'g') end, case when p_resource = 'connection' then null
        else p_operation end, case when p_allow then 'allow' else 'deny' end, p_kind)
$$;
