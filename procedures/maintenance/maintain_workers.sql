-- howdah.maintain_workers(lock_epoch, seconds): delete workers that have been silent for longer than seconds.
--
-- Returns  how many were deleted (bigint).
-- Raises   HD005 seconds is less than 60, or more than 1000000000; HD014 the maintenance lock is not held with this
--          epoch.
-- Role     howdah_consumer howdah_admin
--
-- Their messages need no care: their transactions ended with their connections. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_workers(
    lock_epoch bigint default null, seconds numeric default 120
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_count bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if seconds is null or seconds < 60 or seconds > 1000000000 then
        raise exception using errcode = 'HD005',
            message = format('seconds must be 60 or more, not %s', coalesce(seconds::text, 'NULL')),
            hint = 'A worker reports every two seconds; a busy one may miss some reports.';
    end if;
    delete from howdah.workers w where w.heartbeat_at < howdah.now() - seconds * interval '1 second';
    get diagnostics v_count = row_count;
    return v_count;
end
$$;
