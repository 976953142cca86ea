-- howdah._has_role(p_role): whether the caller is a role, or has its rights by grants.
--
-- Returns  boolean.
-- Raises   HD010 as howdah._refuse_maintenance.
-- Role     internal
--
-- A right is stored under a role's name, and outlives the role. Nobody has the rights of a role that no longer exists.
--
-- This function alone decides who has a right. Being a superuser is no membership. A membership without INHERIT does
-- not count until SET ROLE.
--
-- PostgreSQL inlines the function, because it is one volatile expression. A stable one would not be inlined, because it
-- calls a volatile function. The setting is_superuser follows SET ROLE, and no user can set it. Only a superuser's
-- grants cost a look at the catalog: the part after "or" is a function of its own.
--
-- The last condition applies to everybody who has the right, because any role may be granted the maintenance of other
-- people's tables. docs/decisions/0014 says why.
create or replace function howdah._has_role(p_role text) returns boolean
language sql volatile
as $$
    select coalesce(pg_has_role(coalesce(nullif(current_setting('role')::name, 'none'), session_user),
            to_regrole(quote_ident(p_role))::oid, 'USAGE'), false)
        and (current_setting('is_superuser') = 'off' or howdah._caller_is_granted(p_role))
        and howdah._refuse_maintenance()
$$;
