-- howdah._is_member(p_role, p_of): whether a role is another role or has its rights by grants; neither need exist any
-- more.
--
-- Returns  boolean.
-- Role     internal
--
-- For a superuser, it follows the grants themselves, because PostgreSQL answers every question about superusers with
-- yes. Before PostgreSQL 16, a role inherits from all of its memberships or from none.
create or replace function howdah._is_member(p_role text, p_of text) returns boolean
language plpgsql stable cost 1
as $$
begin
    if current_setting('server_version_num')::integer >= 160000 then
        -- The usual way costs a tenth. It is a statement of its own, because older servers have no such column.
        if exists (
            select from pg_auth_members m
            where m.member = to_regrole(quote_ident(p_role)) and m.roleid = to_regrole(quote_ident(p_of))
              and m.inherit_option
        ) then
            return true;
        end if;
    end if;
    return exists (
        select from pg_roles a cross join pg_roles b
        where a.rolname = p_role and b.rolname = p_of
          and case when not a.rolsuper then pg_has_role(a.oid, b.oid, 'USAGE') else b.oid in (
            with recursive held as (
                select a.oid
                union
                select m.roleid from held h join pg_auth_members m on m.member = h.oid join pg_roles r on r.oid = h.oid
                where coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, r.rolinherit)
            )
            select h.oid from held h) end);
end
$$;
