-- howdah._may(p_resource, p_name, p_operation): whether the caller may do what no destination's rights decide.
--
-- Returns  boolean.
-- Role     internal
--
-- Producers, consumers and administrators may make a queue or topic by its first use. An administrator alone may
-- connect to administer.
create or replace function howdah._may(p_resource text, p_name text, p_operation text) returns boolean
language sql stable
as $$
    select case when p_resource = 'connection' and p_name = 'NORMAL' then true
        else coalesce(howdah._has_role(e.admin_role), false) or p_operation = 'create'
            and (coalesce(howdah._has_role(e.producer_role), false)
                or coalesce(howdah._has_role(e.consumer_role), false)) end
    from howdah.engine e
$$;
