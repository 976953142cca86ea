-- howdah.maintain_schedules(lock_epoch): delete schedules that ended, and firings, longer ago than
-- engine.journal_retention_days.
--
-- Returns  the number of schedules and firings deleted (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- A schedule with a name stays until it is cancelled or replaced, or its queue is dropped: the same definition would
-- begin it anew. One that was only delayed does not stay. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_schedules(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_before timestamptz := howdah.now() - (select e.journal_retention_days * interval '24 hours' from howdah.engine e);
    v_count bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    with runs as (
        delete from howdah.schedule_runs r where r.fired_at < v_before returning 1
    ), ended as (
        delete from howdah.schedules s where s.state in ('ended', 'cancelled') and s.changed_at < v_before
            and (s.state = 'cancelled' or s.name is null or howdah._is_only_delayed(s)
                or exists (select from howdah.destinations d
                           where d.id = s.destination_id and d.dropped_at is not null))
            and not exists (select from howdah.schedule_runs r where r.schedule_id = s.id) returning 1
    )
    select (select count(*) from runs) + (select count(*) from ended) into v_count;
    return v_count;
end
$$;
