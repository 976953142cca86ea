-- howdah.check_archive_run(archive, run, damage): record the result of verifying a finished run.
--
-- Returns  nothing. damage NULL: it is as it was written. Retention drops nothing while a run of the present archive is
--          damaged.
-- Raises   HD005 there is no such run.
-- Role     howdah_admin
create or replace function howdah.check_archive_run(archive uuid, run integer, damage text default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    update howdah.archive_runs r set verified_at = howdah.now(), damage = nullif(check_archive_run.damage, '')
    where r.archive_id = archive and r.run = check_archive_run.run;
    if not found then
        raise exception using errcode = 'HD005', message = format('archive %s has no finished run %s', archive, run),
            hint = 'See howdah.list_archive_runs().';
    end if;
end
$$;
