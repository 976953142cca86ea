-- howdah.user_state(name): what a role is to Howdah's rules.
--
-- Returns  a JSON object of login and groups (jsonb); NULL if there is no such role.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.user_state(name text) returns jsonb
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select jsonb_build_object('login', r.rolcanlogin, 'groups', array(
        select g.rolname::text from pg_auth_members m join pg_roles g on g.oid = m.roleid
        where m.member = r.oid order by 1))
    from pg_roles r where r.rolname = user_state.name
$$;
