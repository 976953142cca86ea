-- howdah.fire_schedules(plans, max_schedules): send what is due by the clock; any number of schedulers call it again
-- and again.
--
-- Returns  one row. fired: how many messages were sent and series begun. unplanned: how many cron schedules were due
--          without a plan from the caller (howdah.due_schedules). next_in: the seconds until the next firing (NULL:
--          none is known).
-- Raises   HD005 wrong argument. An error of a firing (HD001, HD006, HD007, HD008, HD010, HD017, HD018, HD027, HD025,
--          HD039, HD040) becomes the schedule's last_error; HD045 the master of changes is away; HD049 a bridge with a
--          transformation needs READ COMMITTED (docs/transformations.md); HD050 a body does not keep to the contract
--          (docs/contracts.md).
-- Role     howdah_consumer howdah_admin
--
-- A firing stores its message and moves its schedule on in one transaction, with the schedule's row locked. Rows that
-- others have locked are skipped. So each firing happens once, and a scheduler that dies leaves nothing half done.
--
-- Periods are computed here; the caller computes the times of cron expressions. plans is a JSON array of
-- {"schedule_id", "was": its next_at, "times": [those that are due], "next_at"}, or with "error" instead of times.
-- "missed" is the number of earlier times that are due and left out. A plan is void if its "was" is no longer the
-- schedule's next_at.
--
-- If sending is refused for a time (paused, full), the firing is tried again every ten seconds. If it is refused for
-- good, the schedule has failed. Nothing fires while the engine is paused, quiesced or stopped; what is missed then is
-- made up for as after an outage.
--
-- Consumers are trusted with their plans, as with other maintenance; no plan fires ahead of the database's clock.
create or replace function howdah.fire_schedules(
    plans jsonb default '[]', max_schedules integer default 1000, out fired bigint, out unplanned bigint,
    out next_in double precision
) returns record
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_plan record;
    v_schedule howdah.schedules;
begin
    if plans is null or jsonb_typeof(plans) <> 'array' or (max_schedules between 1 and 100000) is not true then
        raise exception using errcode = 'HD005', message = 'plans must be a JSON array, max_schedules 1 to 100000',
            hint = 'Leave both out to fire only schedules with a period.';
    end if;
    begin
        if exists (select from jsonb_to_recordset(plans) p(schedule_id bigint, was timestamptz, times timestamptz[],
            missed bigint, next_at timestamptz, error text)
                   where p.schedule_id is null or not howdah._is_readable(p.next_at)
                      or p.missed not between 0 and 1000000000000) then
            raise data_exception;
        end if;
    exception when data_exception then
        raise exception using errcode = 'HD005',
            message = 'plans must be a JSON array of objects with a schedule_id and times between 1970 and 9999',
            hint =
                'For each schedule of howdah.due_schedules(): {"schedule_id", "was", "times": [...], "next_at"}, '
                'or "error". "missed" is 0 to 1000000000000.';
    end;
    fired := 0;
    if howdah._engine_state() <> 'running' then
        unplanned := 0;
        return;
    end if;
    for v_plan in
        select s as schedule, p.times, coalesce(p.missed, 0) as missed, p.next_at, p.error
        from howdah.schedules s
        left join jsonb_to_recordset(plans) p(schedule_id bigint, was timestamptz, times timestamptz[],
            missed bigint, next_at timestamptz, error text)
            on p.schedule_id = s.id and p.was is not distinct from s.next_at
        where s.due_at <= v_now and (s.cron is null or p.schedule_id is not null)
        order by s.due_at limit max_schedules for no key update of s skip locked
    loop
        v_schedule := v_plan.schedule;
        if v_schedule.cron is not null then
            v_schedule.missed := v_schedule.missed + v_plan.missed;
            fired := fired + howdah._fire_due(v_schedule, v_plan.times, v_plan.next_at, v_plan.error);
        else
            fired := fired + howdah._fire_period(v_schedule, v_now);
        end if;
    end loop;
    select count(*) filter (where s.due_at <= v_now and s.cron is not null),
        extract(epoch from min(s.due_at) filter (where s.due_at > v_now or s.cron is null) - v_now)
    into unplanned, next_in
    from (select d.due_at, d.cron from howdah.schedules d where d.due_at is not null order by d.due_at
        limit max_schedules + 1) s;
end
$$;
