-- howdah._selector_double(p_number): round a number to a double, without ever raising an error.
--
-- Returns  numeric: the shortest decimal that reads as that double, of scale 1 or more; Infinity beyond the largest
--          double; 0.0 below the smallest normal one.
-- Role     internal
create or replace function howdah._selector_double(p_number numeric) returns numeric
language plpgsql immutable strict parallel safe set extra_float_digits = 1
as $$
begin
    if p_number = 'NaN' or abs(p_number) > 1.797693134862315e308 then
        return case when p_number = 'NaN' then p_number when p_number > 0 then 'Infinity' else '-Infinity' end;
    elsif abs(p_number) < 2.3e-308 then
        return 0.0;
    end if;
    return p_number::float8::text::numeric + 0.0;
end
$$;
