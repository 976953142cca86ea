-- howdah.archive_identity(): what an archive's folder must contain to belong to this database.
--
-- Returns  one row: engine, its name; system_identifier, the cluster's; archive_id, the archive written now (NULL:
--          none).
-- Role     howdah_admin howdah_auditor
create or replace function howdah.archive_identity() returns table (
    engine text, system_identifier bigint, archive_id uuid
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ select e.name, c.system_identifier, e.archive_id from howdah.engine e cross join pg_control_system() c $$;
