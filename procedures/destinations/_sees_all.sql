-- howdah._sees_all(): whether the caller sees the names and figures of all queues and topics, whoever may use them.
--
-- Returns  boolean; true for administrators, auditors, the owner, and where access control is off.
-- Raises   HD010 as howdah._refuse_maintenance.
-- Role     internal
create or replace function howdah._sees_all() returns boolean
language plpgsql stable
as $$
begin
    return (select howdah._has_role(e.admin_role) or howdah._has_role(e.auditor_role) or howdah._has_role((
            select pg_get_userbyid(n.nspowner)::text from pg_namespace n where n.nspname = 'howdah'))
        from howdah.engine e) or howdah._rule_set_of_caller() is null and howdah._refuse_maintenance();
end
$$;
