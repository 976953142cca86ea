-- howdah._is_member(p_role, p_of): whether a role is another one or has its rights by grants; neither need exist any more.
--
-- Returns  boolean.
-- Role     internal
--
-- The grants themselves are followed for a superuser, of whom PostgreSQL says yes to everything. Before PostgreSQL 16 a role inherits from all of
-- its memberships or from none.
create or replace function howdah._is_member(p_role text, p_of text) returns boolean
language plpgsql stable cost 1
as $$
begin
    if current_setting('server_version_num')::integer >= 160000 then
        -- The usual way, at a tenth of the price. A statement of its own, for older servers have no such column.
        if exists (
            select from pg_auth_members m
            where m.member = to_regrole(quote_ident(p_role)) and m.roleid = to_regrole(quote_ident(p_of)) and m.inherit_option
        ) then
            return true;
        end if;
    end if;
    return exists (
        select from pg_roles a cross join pg_roles b
        where a.rolname = p_role and b.rolname = p_of and case when not a.rolsuper then pg_has_role(a.oid, b.oid, 'USAGE') else b.oid in (
            with recursive held as (
                select a.oid
                union
                select m.roleid from held h join pg_auth_members m on m.member = h.oid join pg_roles r on r.oid = h.oid
                where coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, r.rolinherit)
            )
            select h.oid from held h) end);
end
$$;

-- howdah._refuse_maintenance(): refuse a call out of ANALYZE, VACUUM, REINDEX, CREATE INDEX, CLUSTER or REFRESH MATERIALIZED VIEW.
--
-- Returns  true.
-- Raises   HD010 it is one.
-- Role     internal
--
-- There PostgreSQL runs the code of a table's owner, who is not the session's role; it says so to none, but forbids some statements. UNLISTEN is
-- the cheapest of them: it does nothing in a session that never listened. One that has cannot PREPARE TRANSACTION afterwards; to undo it, by a
-- subtransaction, would cost every call 2 microseconds.
create or replace function howdah._refuse_maintenance() returns boolean
language plpgsql volatile
as $$
begin
    unlisten howdah_none;
    return true;
exception when insufficient_privilege then
    raise exception using errcode = 'HD010',
        message = format('role %s uses no queue out of a maintenance command', quote_ident(howdah._caller())),
        hint = 'An index, a materialized view or a trigger calls Howdah: whose right it is cannot be told there. Call Howdah from a statement of your own.';
end
$$;

-- howdah._caller_is_granted(p_role): howdah._is_member of the caller, for a superuser.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._caller_is_granted(p_role text) returns boolean
language plpgsql stable
as $$
begin
    return howdah._is_member(howdah._caller(), p_role);
end
$$;

-- howdah._has_role(p_role): whether the caller has the rights of a role by grants, be it only its own name.
--
-- Returns  boolean.
-- Raises   HD010 as howdah._refuse_maintenance.
-- Role     internal
--
-- A right is a role's name, and outlives the role: nobody has the rights of a role that is gone.
-- This function alone decides who has a right. Superuser status stands for no membership. Nor does a membership without INHERIT, until SET ROLE.
-- PostgreSQL expands the function where it is called, for it is one volatile expression: a stable one would not be expanded, since it calls a volatile
-- function. The setting is_superuser follows SET ROLE, and no user can set it. A superuser's grants cost a look at the catalog; the others' do not, for
-- the part after "or" is a function of its own. The last condition holds for everybody who has the right, for any role may be granted the maintenance
-- of other people's tables. docs/decisions/0014 says why.
create or replace function howdah._has_role(p_role text) returns boolean
language sql volatile
as $$
    select coalesce(pg_has_role(howdah._caller()::name, to_regrole(quote_ident(p_role))::oid, 'USAGE'), false)
        and (current_setting('is_superuser') = 'off' or howdah._caller_is_granted(p_role))
        and howdah._refuse_maintenance()
$$;
