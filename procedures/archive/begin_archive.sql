-- howdah.begin_archive(lock_epoch, anew): name the archive that runs will be written to.
--
-- Returns  its identity (uuid): the present archive's while that has no finished run; otherwise, with anew, a new one.
-- Raises   HD005 there is an archive with runs and anew is false; HD014 the lock archive is not held with this epoch;
--          HD025 the database was restored into another cluster, and howdah.rebase_topics() must run first.
-- Role     howdah_admin
--
-- The first run of a new archive writes everything. Rows from another cluster's dump have that cluster's transaction
-- ids. They are all committed, so they get the first id there is; otherwise a later run would take them for new.
create or replace function howdah.begin_archive(lock_epoch bigint, anew boolean default false) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_archive uuid;
begin
    perform howdah._fence('archive', lock_epoch);
    perform howdah._check_cluster();
    select e.archive_id into v_archive from howdah.engine e for no key update;
    if exists (select from howdah.archive_runs r where r.archive_id = v_archive) then
        if anew is not true then
            raise exception using errcode = 'HD005', message = 'this database has an archive already',
                hint =
                    'Give its folder (howdah archive list shows it), or begin another archive in an empty folder '
                    '(anew => true, or --new).';
        end if;
        v_archive := null;
    end if;
    if v_archive is null then
        v_archive := gen_random_uuid();
        update howdah.engine e set archive_id = v_archive;
    end if;
    delete from howdah.archived_messages;
    update howdah.journal j set xid = 3 where not pg_visible_in_snapshot(j.xid::text::xid8, pg_current_snapshot());
    update howdah.poison_details p set xid = 3 where not pg_visible_in_snapshot(p.xid::text::xid8,
        pg_current_snapshot());
    return v_archive;
end
$$;
