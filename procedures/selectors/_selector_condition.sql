-- howdah._selector_condition(p_kind, p_sql, p_position): an operand as a condition.
--
-- Returns  text. A header that is not a boolean is false.
-- Raises   HD023 it is a string, a number or a calculation.
-- Role     internal
create or replace function howdah._selector_condition(p_kind text, p_sql text, p_position integer) returns text
language plpgsql immutable
as $$
begin
    if p_kind = 'property' then
        return howdah._selector_typed(p_sql, 'boolean', p_sql || '::boolean');
    elsif p_kind not in ('literal boolean', 'condition', 'predicate', 'AND', 'OR') then
        perform howdah._invalid_selector(p_position,
            format('a %s where a condition is expected', replace(p_kind, 'literal ', '')));
    end if;
    return p_sql;
end
$$;
