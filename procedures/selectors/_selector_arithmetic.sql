-- howdah._selector_arithmetic(p_op, p_left, p_right): compute + - * / by Java's rules, without ever raising an error.
--
-- Returns  numeric, in the form that howdah._selector_number gives.
-- Role     internal
--
-- Two integers give an integer, and a quotient is truncated. A division of integers by 0 is unknown (NULL). A result
-- that does not fit 64 bits is a double.
--
-- It has no setting of its own, because a setting costs more than the calculation. howdah._selector_double_arithmetic
-- has one.
create or replace function howdah._selector_arithmetic(p_op text, p_left numeric, p_right numeric) returns numeric
language plpgsql immutable strict parallel safe
as $$
declare
    v_result numeric;
begin
    if scale(p_left) = 0 and scale(p_right) = 0 then
        v_result := case p_op when '+' then p_left + p_right when '-' then p_left - p_right
            when '*' then p_left * p_right
            else div(p_left, nullif(p_right, 0)) end;
        if v_result not between -9223372036854775808 and 9223372036854775807 then
            return howdah._selector_double(v_result);
        end if;
        return v_result;
    end if;
    return howdah._selector_double_arithmetic(p_op, p_left, p_right);
end
$$;
