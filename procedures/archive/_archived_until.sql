-- howdah._archived_until(): the snapshot up to which the archive is complete and sound.
--
-- Returns  pg_snapshot: the present archive has the rows visible in it. NULL if there is no archive, one of its runs is
--          damaged, or the database was restored into another cluster since.
-- Role     internal
create or replace function howdah._archived_until() returns pg_snapshot
language sql stable
as $$
    select r.snapshot
    from howdah.engine e
    join howdah.archive_runs r on r.archive_id = e.archive_id and r.system_identifier = e.system_identifier
    where not exists (select from howdah.archive_runs d where d.archive_id = e.archive_id and d.damage is not null)
    order by r.run desc limit 1
$$;
