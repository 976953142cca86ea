-- howdah.delay_until(at): the time left until a point in time, for the argument delay of howdah.send.
--
-- Returns  interval; 0 for a time that has passed.
-- Raises   HD005 at is NULL, infinite or over 99 years ahead.
-- Role     howdah_producer howdah_admin
--
-- howdah.send('q', 'x', delay => howdah.delay_until('2027-01-01 08:00 Europe/Vienna')) is due at that time, or later by
-- what lies between the two calls: milliseconds in one statement.
create or replace function howdah.delay_until(at timestamptz) returns interval
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if at is null or not isfinite(at) or at > howdah.now() + interval '99 years' then
        raise exception using errcode = 'HD005',
            message = 'a time of delivery is a point in time, at most 99 years ahead';
    end if;
    return greatest(at - howdah.now(), interval '0');
end
$$;
