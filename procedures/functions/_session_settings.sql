-- howdah._session_settings(): the session's current settings, except those that Howdah's functions make.
--
-- Returns  jsonb: an object.
-- Role     internal
create or replace function howdah._session_settings() returns jsonb
language sql volatile
as $$ select jsonb_object_agg(s.name, s.setting) from pg_settings s where s.name !~ '^howdah[.]' $$;
