-- howdah._most_rows(p_rows): how many rows a list returns at most, as its caller asks.
--
-- Returns  the same number; NULL: all.
-- Raises   HD005 it is not 1 to 10000.
-- Role     internal
create or replace function howdah._most_rows(p_rows integer) returns integer
language plpgsql immutable
as $$
begin
    if p_rows not between 1 and 10000 then
        raise exception using errcode = 'HD005', message = format('max_rows must be 1 to 10000, not %s', p_rows),
            hint = 'Leave it out for all rows.';
    end if;
    return p_rows;
end
$$;
