-- howdah._has_role(p_role): whether the caller has the rights of a role by grants, be it only its own name.
--
-- Returns  boolean.
-- Raises   HD010 as howdah._refuse_maintenance.
-- Role     internal
--
-- A right is a role's name, and outlives the role: nobody has the rights of a role that is gone. This function alone
-- decides who has a right. Superuser status stands for no membership. Nor does a membership without INHERIT, until SET
-- ROLE. PostgreSQL expands the function where it is called, for it is one volatile expression: a stable one would not
-- be expanded, since it calls a volatile function. The setting is_superuser follows SET ROLE, and no user can set it. A
-- superuser's grants cost a look at the catalog; the others' do not, for the part after "or" is a function of its own.
-- The last condition holds for everybody who has the right, for any role may be granted the maintenance of other
-- people's tables. docs/decisions/0014 says why.
create or replace function howdah._has_role(p_role text) returns boolean
language sql volatile
as $$
    select coalesce(pg_has_role(howdah._caller()::name, to_regrole(quote_ident(p_role))::oid, 'USAGE'), false)
        and (current_setting('is_superuser') = 'off' or howdah._caller_is_granted(p_role))
        and howdah._refuse_maintenance()
$$;
