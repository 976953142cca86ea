-- howdah._why_unarchived(): what is wrong with the archive, as a reason to wait.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._why_unarchived() returns text
language sql stable
as $$
    select coalesce(
        (select format('run %s of the archive is damaged: see howdah archive verify', min(r.run))
         from howdah.archive_runs r
         where r.archive_id = (select e.archive_id from howdah.engine e) and r.damage is not null having count(*) > 0),
        'not all of it is in the archive: howdah archive run')
$$;
