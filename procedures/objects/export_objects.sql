-- howdah.export_objects(): all objects as one JSON document, to be kept in a repository.
--
-- Returns  an array by name (jsonb) of objects with name, kind, attributes and read_only.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.export_objects() returns jsonb
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$ select coalesce(jsonb_agg(howdah._object_json(o) order by o.name collate "C"), '[]') from howdah.objects o $$;
