-- howdah._selector_numeric(p_kind, p_sql, p_position): an operand as a number to calculate with.
--
-- Returns  text.
-- Raises   HD023 it is no number.
-- Role     internal
create or replace function howdah._selector_numeric(p_kind text, p_sql text, p_position integer) returns text
language plpgsql immutable
as $$
begin
    if p_kind = 'property' then
        return format('howdah._selector_number(%s)', p_sql);
    elsif p_kind not in ('literal number', 'number', 'calculation') then
        perform howdah._invalid_selector(p_position,
            format('a %s where a number is expected', replace(p_kind, 'literal ', '')));
    end if;
    return p_sql;
end
$$;
