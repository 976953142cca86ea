-- howdah._selector_predicate(p_op, p_value, p_kind, p_sql, p_position): IS NULL, LIKE and IN of a name, as SQL.
--
-- Returns  text. LIKE and IN are false for a value that is no string.
-- Raises   HD023 it is not a name.
-- Role     internal
create or replace function howdah._selector_predicate(
    p_op text, p_value text, p_kind text, p_sql text, p_position integer
) returns text
language plpgsql immutable
as $$
declare
    v_test text;
begin
    if p_kind not in ('property', 'text', 'number') then
        perform howdah._invalid_selector(p_position,
            format('a %s before %s', replace(p_kind, 'literal ', ''), upper(p_op)),
            'LIKE, IN and IS NULL are asked of a name.');
    elsif p_op = 'is null' then
        return case when p_kind = 'property' then format('(jsonb_typeof%s = ''null'') is not false', p_sql)
            else format('%s is null', p_sql) end;
    elsif p_kind = 'number' then
        return howdah._selector_unlike(p_sql, p_sql);
    end if;
    v_test := format(case p_op when 'like' then '%s collate "C" like %L' else '%s collate "C" = any (%L::text[])' end,
        case when p_kind = 'property' then format('(%s #>> ''{}'')', p_sql) else p_sql end, p_value);
    return case when p_kind = 'property' then howdah._selector_typed(p_sql, 'string', v_test) else v_test end;
end
$$;
