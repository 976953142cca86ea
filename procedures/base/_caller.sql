-- howdah._caller(): the role on whose behalf one of our functions was called.
--
-- Returns  the role's name (text).
-- Role     internal
--
-- Within a SECURITY DEFINER function, current_user is the owner. After SET ROLE, session_user is the pool's login.
create or replace function howdah._caller() returns text
language sql stable
as $$ select coalesce(nullif(pg_catalog.current_setting('role'), 'none'), session_user::text) $$;
