-- howdah._selector_double_arithmetic(p_op, p_left, p_right): compute + - * / of two numbers of which one is a double.
--
-- Returns  numeric, as howdah._selector_arithmetic.
-- Role     internal
--
-- Doubles follow IEEE 754: 1.0 / 0 is Infinity. NaN, which has no type, comes from 0.0 / 0 and from operands that are
-- no number. PostgreSQL's float8 raises errors on overflow and underflow, so both are checked first, a little within
-- the bounds.
create or replace function howdah._selector_double_arithmetic(
    p_op text, p_left numeric, p_right numeric
) returns numeric
language plpgsql immutable strict parallel safe set extra_float_digits = 1
as $$
declare
    x float8;
    y float8;
    z float8;
    v_infinity constant float8 := 'Infinity';
begin
    if p_left = 'NaN' or p_right = 'NaN' then
        return 'NaN';
    end if;
    x := p_left;
    y := case p_op when '-' then -p_right else p_right end;
    if p_op in ('+', '-') then
        z := case when abs(x) = v_infinity or abs(y) = v_infinity or abs(x / 2 + y / 2) < 8.98e307 then x + y
            else v_infinity * sign(x) end;
    elsif p_op = '*' then
        z := case when x = 0 or y = 0 or abs(x) = v_infinity or abs(y) = v_infinity then x * y
            when abs(x) > 1 and abs(y) > 1.797693134862315e308 / abs(x) then v_infinity * sign(x) * sign(y)
            when abs(x) < 1 and abs(y) < 2.3e-308 / abs(x) then 0
            else x * y end;
    else
        z := case when x = 0 and y = 0 or abs(x) = v_infinity and abs(y) = v_infinity then 'NaN'
            when y = 0 then v_infinity * sign(x) when x = 0
                or abs(y) = v_infinity then 0 when abs(x) = v_infinity then x * sign(y)
            when abs(y) < 1 and abs(x) > 1.797693134862315e308 * abs(y) then v_infinity * sign(x) * sign(y)
            when abs(y) > 1 and abs(x) < 2.3e-308 * abs(y) then 0
            else x / y end;
    end if;
    return case when z = 'NaN' or abs(z) = v_infinity then z::numeric when abs(z) < 2.3e-308 then 0.0
        else z::text::numeric + 0.0 end;
end
$$;
