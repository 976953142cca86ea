-- howdah._may(p_resource, p_name, p_operation): whether the caller may do something that needs no destination.
--
-- Returns  boolean.
-- Role     internal
--
-- p_resource is connection, queue or topic. A connection's name is its kind, NORMAL or ADMIN.
create or replace function howdah._may(p_resource text, p_name text, p_operation text) returns boolean
language sql volatile
as $$
    select case when p_operation = 'create' or p_name = 'ADMIN'
        then exists (select from howdah.engine e where howdah._has_role(e.admin_role)) else true end
$$;
