-- howdah._caller(): the role on whose behalf a function of ours was called.
--
-- Returns  the role's name.
-- Role     internal
--
-- Inside a SECURITY DEFINER function current_user is the owner, and behind SET ROLE session_user is the pool's login.
create or replace function howdah._caller() returns text
language sql stable
as $$ select coalesce(nullif(pg_catalog.current_setting('role'), 'none'), session_user::text) $$;
