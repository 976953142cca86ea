-- howdah._selector_compare(p_op, p_left, p_right): compare two numbers; NaN, which has no type, is neither equal nor
-- unequal to anything.
--
-- Returns  boolean; NULL if either is NULL.
-- Role     internal
create or replace function howdah._selector_compare(p_op text, p_left numeric, p_right numeric) returns boolean
language plpgsql immutable strict parallel safe
as $$
begin
    return p_left <> 'NaN' and p_right <> 'NaN' and case p_op when '=' then p_left = p_right
        when '<>' then p_left <> p_right
        when '<' then p_left < p_right when '<=' then p_left <= p_right
        when '>' then p_left > p_right else p_left >= p_right end;
end
$$;

-- howdah._selector_compare(p_op, p_left, p_right): compare two headers; the result is false if their types differ or
-- have no such comparison.
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
