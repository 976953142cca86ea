-- howdah._selector_number(p_header): a header's value for calculations.
--
-- Returns  an integer of 64 bits as numeric of scale 0; any other number as a Java double, of scale 1 or more, or Infinity; NaN for what
--          is no number. NULL for NULL and JSON's null.
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
    -- A decimal of 15 digits is as it is the shortest form of its double.
    if scale(v_number) = 0 and v_number between -9223372036854775808 and 9223372036854775807
        or scale(v_number) between 1 and 6 and abs(v_number) < 1000000000 then
        return v_number;
    end if;
    return howdah._selector_double(v_number);
end
$$;

-- howdah._selector_double(p_number): a number rounded to a double, never raising.
--
-- Returns  numeric: the shortest decimal that reads as that double, of scale 1 or more; Infinity beyond the largest; 0.0 below the
--          smallest normal one.
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

-- howdah._selector_arithmetic(p_op, p_left, p_right): + - * / by Java's rules, never raising.
--
-- Returns  numeric, as howdah._selector_number gives it.
-- Role     internal
--
-- Two integers give an integer: the quotient is truncated; of a division by 0 it is unknown (NULL). Where 64 bits do not hold it, a double.
-- Doubles are IEEE 754's: 1.0 / 0 is Infinity. NaN, which has no type, comes of 0.0 / 0 and of what is no number. PostgreSQL's float8
-- raises on overflow and underflow, so both are asked for first, a little within the bounds.
create or replace function howdah._selector_arithmetic(p_op text, p_left numeric, p_right numeric) returns numeric
language plpgsql immutable strict parallel safe set extra_float_digits = 1
as $$
declare
    v_result numeric;
    x float8;
    y float8;
    z float8;
    v_infinity constant float8 := 'Infinity';
begin
    if scale(p_left) = 0 and scale(p_right) = 0 then
        v_result := case p_op when '+' then p_left + p_right when '-' then p_left - p_right when '*' then p_left * p_right
            else div(p_left, nullif(p_right, 0)) end;
        if v_result not between -9223372036854775808 and 9223372036854775807 then
            return howdah._selector_double(v_result);
        end if;
        return v_result;
    elsif p_left = 'NaN' or p_right = 'NaN' then
        return 'NaN';
    end if;
    x := p_left;
    y := case p_op when '-' then -p_right else p_right end;
    if p_op in ('+', '-') then
        z := case when abs(x) = v_infinity or abs(y) = v_infinity or abs(x / 2 + y / 2) < 8.98e307 then x + y else v_infinity * sign(x) end;
    elsif p_op = '*' then
        z := case when x = 0 or y = 0 or abs(x) = v_infinity or abs(y) = v_infinity then x * y
            when abs(x) > 1 and abs(y) > 1.797693134862315e308 / abs(x) then v_infinity * sign(x) * sign(y)
            when abs(x) < 1 and abs(y) < 2.3e-308 / abs(x) then 0
            else x * y end;
    else
        z := case when x = 0 and y = 0 or abs(x) = v_infinity and abs(y) = v_infinity then 'NaN'
            when y = 0 then v_infinity * sign(x) when x = 0 or abs(y) = v_infinity then 0 when abs(x) = v_infinity then x * sign(y)
            when abs(y) < 1 and abs(x) > 1.797693134862315e308 * abs(y) then v_infinity * sign(x) * sign(y)
            when abs(y) > 1 and abs(x) < 2.3e-308 * abs(y) then 0
            else x / y end;
    end if;
    return case when z = 'NaN' or abs(z) = v_infinity then z::numeric when abs(z) < 2.3e-308 then 0.0 else z::text::numeric + 0.0 end;
end
$$;

-- howdah._selector_compare(p_op, p_left, p_right): compare two numbers; NaN, which has no type, is neither equal nor unequal to anything.
--
-- Returns  boolean; NULL if either is NULL.
-- Role     internal
create or replace function howdah._selector_compare(p_op text, p_left numeric, p_right numeric) returns boolean
language plpgsql immutable strict parallel safe
as $$
begin
    return p_left <> 'NaN' and p_right <> 'NaN' and case p_op when '=' then p_left = p_right when '<>' then p_left <> p_right
        when '<' then p_left < p_right when '<=' then p_left <= p_right when '>' then p_left > p_right else p_left >= p_right end;
end
$$;

-- howdah._selector_compare(p_op, p_left, p_right): compare two headers: false if they are of unlike types, or of one that has no such comparison.
--
-- Returns  boolean; NULL if either is NULL or JSON's null.
-- Role     internal
create or replace function howdah._selector_compare(p_op text, p_left jsonb, p_right jsonb) returns boolean
language plpgsql immutable strict parallel safe
as $$
declare
    v_kind text := jsonb_typeof(p_left);
begin
    if v_kind = 'null' or jsonb_typeof(p_right) = 'null' then
        return null;
    elsif v_kind <> jsonb_typeof(p_right) then
        return false;
    elsif v_kind = 'number' then
        return howdah._selector_compare(p_op, p_left::numeric, p_right::numeric);
    end if;
    return v_kind in ('string', 'boolean') and p_op in ('=', '<>')
        and ((p_left #>> '{}') collate "C" = (p_right #>> '{}') collate "C") = (p_op = '=');
end
$$;
