-- howdah.list_archive_runs(): list the finished runs of every archive, the present one's last.
--
-- Returns  one row per run. current: it belongs to the archive written now. same_cluster: its transaction ids are this
--          cluster's. snapshot: the archive has the rows visible in it. damage: what howdah archive verify found. Other
--          columns as in the table.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.list_archive_runs() returns table (
    archive_id uuid, run integer, current boolean, same_cluster boolean, snapshot text, journal_rows bigint,
    journal_checksum text, incident_rows bigint, incident_checksum text, message_rows bigint, message_checksum text,
    journal_kept_from timestamptz, manifest text, path text, started_at timestamptz, finished_at timestamptz,
    verified_at timestamptz, damage text
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select r.archive_id, r.run, r.archive_id is not distinct from e.archive_id,
        r.system_identifier = c.system_identifier, r.snapshot::text,
        r.journal_rows, r.journal_checksum::text, r.incident_rows, r.incident_checksum::text, r.message_rows,
        r.message_checksum::text, r.journal_kept_from, r.manifest, r.path, r.started_at, r.finished_at, r.verified_at,
        r.damage
    from howdah.archive_runs r
    cross join howdah.engine e
    cross join pg_control_system() c
    order by r.archive_id is not distinct from e.archive_id, min(r.started_at) over (partition by r.archive_id),
        r.archive_id, r.run
$$;
