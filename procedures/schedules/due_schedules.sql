-- howdah.due_schedules(max_schedules): the cron schedules that are due, for a scheduler to plan; nothing is locked.
--
-- Returns  one row per schedule. next_at NULL: its first firing must be computed, on or after from_at. now is the
--          database's clock, or the schedule's end if that is earlier.
-- Raises   HD005 max_schedules is not 1 to 100000.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.due_schedules(max_schedules integer default 1000) returns table (
    schedule_id bigint, cron text, time_zone text, next_at timestamptz, from_at timestamptz, catch_up boolean,
    now timestamptz
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
begin
    if (max_schedules between 1 and 100000) is not true then
        raise exception using errcode = 'HD005', message = format('max_schedules must be 1 to 100000, not %s',
            coalesce(max_schedules::text, 'NULL'));
    end if;
    return query
    select s.id, s.cron, s.time_zone, s.next_at, greatest(s.changed_at, s.starts_at), s.catch_up,
        least(n.now, s.ends_at)
    from howdah.now() n(now) join howdah.schedules s on s.due_at <= n.now
    where s.cron is not null
    order by s.due_at limit max_schedules;
end
$$;
