-- howdah._selector_number(p_header): a header's value for calculations.
--
-- Returns  an integer of 64 bits as numeric of scale 0. Any other number is a Java double, of scale 1 or more, or
--          Infinity. A value that is no number is NaN. NULL for NULL and JSON's null.
-- Role     internal
create or replace function howdah._selector_number(p_header jsonb) returns numeric
language plpgsql immutable strict parallel safe
as $$
declare
    v_kind text := jsonb_typeof(p_header);
    v_number numeric;
begin
    if v_kind <> 'number' then
        return case when v_kind <> 'null' then 'NaN'::numeric end;
    end if;
    v_number := p_header::numeric;
    -- A decimal of 15 digits is already the shortest form of its double.
    if scale(v_number) = 0 and v_number between -9223372036854775808 and 9223372036854775807
        or scale(v_number) between 1 and 6 and abs(v_number) < 1000000000 then
        return v_number;
    end if;
    return howdah._selector_double(v_number);
end
$$;
