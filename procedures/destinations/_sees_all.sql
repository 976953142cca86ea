-- howdah._sees_all(): whether lists show the caller every destination, as they do to administrators and auditors.
--
-- Returns  boolean.
-- Raises   HD010 called from a maintenance command.
-- Role     internal
create or replace function howdah._sees_all() returns boolean
language plpgsql stable
as $$
begin
    return (select howdah._has_role(e.admin_role) or howdah._has_role(e.auditor_role) from howdah.engine e)
        or howdah._rule_set_of_caller() is null;
end
$$;
