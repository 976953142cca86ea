-- howdah._lease_until(p_duration): when a lease of a given duration ends.
--
-- Returns  timestamptz.
-- Raises   HD005 the duration is not 1 ms to 7 days.
-- Role     internal
create or replace function howdah._lease_until(p_duration interval) returns timestamptz
language plpgsql volatile
as $$
begin
    if (p_duration between interval '1 millisecond' and interval '7 days') is not true then
        raise exception using errcode = 'HD005', message = format('a lease cannot last %s',
            coalesce(p_duration::text, 'NULL')),
            hint = 'It lasts 1 millisecond to 7 days; howdah.extend lengthens it.';
    end if;
    return howdah.now() + howdah._span(p_duration);
end
$$;
