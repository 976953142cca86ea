-- howdah._check_schedule(p_once, p_cron, …): refuse a schedule whose arguments are wrong or contradict each other.
--
-- Raises   HD005 an argument is wrong, or arguments contradict each other.
-- Role     internal
create or replace function howdah._check_schedule(
    p_once boolean, p_cron text, p_period interval, p_repeat integer, p_starts_at timestamptz, p_ends_at timestamptz,
    p_delay interval, p_name text, p_time_zone text, p_misfire_grace interval
) returns void
language plpgsql volatile
as $$
declare
    v_wrong text := case
        when p_once and p_starts_at is null and p_delay is null then 'a schedule needs cron, period, starts_at or delay'
        when p_once and p_repeat <> 0 or p_cron is not null and p_period is null and p_repeat is not null
            then 'repeat goes with a period'
        when p_cron is not null and p_period is not null and (p_repeat >= 0) is not true
            then 'a series that cron begins needs repeat, 0 or more'
        when p_repeat not between -1 and 1000000000 then 'repeat is -1 (forever) to 1,000,000,000'
        when p_period < interval '1 millisecond' or p_period > interval '100 years' or extract(year from p_period) <> 0
            or extract(month from p_period) <> 0
            then 'a period is 1 ms or more, in days, hours, minutes and seconds; cron has months'
        when extract(year from p_delay) <> 0 or extract(month
            from p_delay) <> 0 then 'a delay is in days, hours, minutes and seconds'
        when not howdah._is_readable(p_starts_at) or not howdah._is_readable(p_ends_at)
            or p_starts_at > howdah.now() + interval '100 years'
            then 'starts_at lies between 1970 and 100 years from now, and ends_at before the end of 9999'
        when p_ends_at <= coalesce(p_starts_at, howdah.now()) then 'ends_at lies before the beginning'
        when p_misfire_grace < interval '1 millisecond' or p_misfire_grace > interval '100 years'
            or howdah._milliseconds(p_misfire_grace) < 1 then 'misfire_grace is positive'
        when p_name = '' or length(p_name) > 242 then 'a name has 1 to 242 characters'
        when p_time_zone is null or p_time_zone <> 'UTC'
            and not exists (select from pg_timezone_names z where z.name = p_time_zone)
            then format('there is no time zone %s', coalesce(quote_literal(left(p_time_zone, 100)), 'NULL'))
    end;
begin
    if v_wrong is not null then
        raise exception using errcode = 'HD005', message = v_wrong,
            hint =
                'For example cron => ''30 8 * * mon-fri'', time_zone => ''Europe/Vienna''; or period => ''10 min'', '
                'repeat => 5.';
    end if;
    if p_cron is not null then
        perform howdah._check_cron(p_cron);
    end if;
end
$$;
