-- howdah.finish_archive_run(lock_epoch, archive, run, snapshot, facts, message_ids, destination_ids, origin_ids,
-- stages): record a run as finished; it is part of the archive from now on.
--
-- Returns  nothing. facts is a JSON object: journal, incidents and messages, each with rows and checksum;
--          journal_kept_from, manifest, path, started_at. The arrays are the keys of the dead messages written, one
--          element each; an origin may be NULL.
-- Raises   HD005 wrong argument, or it is not the next run of the present archive; HD014 the lock archive is not held
--          with this epoch; HD025 the database was restored into another cluster.
-- Role     howdah_admin
create or replace function howdah.finish_archive_run(
    lock_epoch bigint, archive uuid, run integer, snapshot text, facts jsonb, message_ids bigint[] default '{}',
    destination_ids integer[] default '{}', origin_ids integer[] default '{}', stages integer[] default '{}'
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_engine howdah.engine;
    v_last howdah.archive_runs;
    v_snapshot pg_snapshot;
    v_new howdah.archive_runs;
begin
    perform howdah._fence('archive', lock_epoch);
    perform howdah._check_cluster();
    begin
        v_snapshot := snapshot::pg_snapshot;
        v_new.journal_rows := (facts #>> '{journal,rows}')::bigint;
        v_new.journal_checksum := (facts #>> '{journal,checksum}')::numeric;
        v_new.incident_rows := (facts #>> '{incidents,rows}')::bigint;
        v_new.incident_checksum := (facts #>> '{incidents,checksum}')::numeric;
        v_new.message_rows := (facts #>> '{messages,rows}')::bigint;
        v_new.message_checksum := (facts #>> '{messages,checksum}')::numeric;
        v_new.journal_kept_from := (facts ->> 'journal_kept_from')::timestamptz;
        v_new.started_at := (facts ->> 'started_at')::timestamptz;
        v_new.manifest := facts ->> 'manifest';
        v_new.path := facts ->> 'path';
        if v_snapshot is null or num_nulls(v_new.journal_rows, v_new.journal_checksum, v_new.incident_rows,
            v_new.incident_checksum,
               v_new.message_rows, v_new.message_checksum, v_new.manifest, v_new.path) > 0
           or howdah._is_readable(v_new.started_at) is not true or not howdah._is_readable(v_new.journal_kept_from)
           or exists (select from unnest(message_ids, destination_ids, stages) k(message_id, destination_id, stage)
                      where num_nulls(k.message_id, k.destination_id, k.stage) > 0)
           or coalesce(cardinality(origin_ids), 0) <> coalesce(cardinality(message_ids), 0) then
            raise data_exception;
        end if;
    exception when data_exception then
        raise exception using errcode = 'HD005', message = 'the snapshot, the facts or the arrays of the run are wrong',
            hint =
                'facts is a JSON object: journal, incidents and messages, each with rows and checksum, manifest, '
                'path, started_at; the arrays are of one length.';
    end;
    select e.* into v_engine from howdah.engine e;
    select r.* into v_last from howdah.archive_runs r where r.archive_id = archive order by r.run desc limit 1;
    if archive is distinct from v_engine.archive_id or run is distinct from coalesce(v_last.run, 0) + 1
       or v_last.system_identifier <> v_engine.system_identifier
       or pg_snapshot_xmax(v_snapshot) < pg_snapshot_xmax(v_last.snapshot) then
        raise exception using errcode = 'HD005', message = format('run %s is not the next one of the archive', run),
            hint = 'Another archiver was faster, or the database was restored; see howdah archive list.';
    end if;
    insert into howdah.archive_runs (archive_id, run, lock_epoch, snapshot, system_identifier, journal_rows,
        journal_checksum, incident_rows, incident_checksum, message_rows, message_checksum, journal_kept_from, manifest,
        path, started_at,
        finished_at)
    values (archive, run, lock_epoch, v_snapshot, v_engine.system_identifier, v_new.journal_rows,
        v_new.journal_checksum, v_new.incident_rows, v_new.incident_checksum, v_new.message_rows,
        v_new.message_checksum,
        v_new.journal_kept_from, v_new.manifest, v_new.path, v_new.started_at, howdah.now());
    insert into howdah.archived_messages (message_id, destination_id, origin_id, stage)
    select k.message_id, k.destination_id, coalesce(k.origin_id, 0), k.stage
    from unnest(message_ids, destination_ids, origin_ids, stages) k(message_id, destination_id, origin_id, stage)
    on conflict do nothing;
    -- Forget messages that have gone since: if a message comes back, its stage differs.
    delete from howdah.archived_messages a
    where not exists (
        select from howdah.archive_messages m
        where m.message_id = a.message_id and m.destination_id = a.destination_id
          and coalesce(m.origin_id, 0) = a.origin_id
          and m.stage = a.stage);
end
$$;
