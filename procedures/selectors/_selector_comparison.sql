-- howdah._selector_comparison(p_op, p_kind, p_sql, p_position, p_other_kind, p_other_sql, p_other_position): the
-- comparison of two operands, as SQL.
--
-- Returns  text.
-- Raises   HD023 < <= > >= or BETWEEN with a string or a condition, or a comparison with a bare predicate.
-- Role     internal
--
-- Where the types are known, the SQL uses PostgreSQL's own operators: for a header and a literal, it looks at the
-- header's type once. Strings are compared byte by byte (COLLATE "C").
create or replace function howdah._selector_comparison(
    p_op text, p_kind text, p_sql text, p_position integer, p_other_kind text, p_other_sql text,
    p_other_position integer
) returns text
language plpgsql immutable
as $$
declare
    v_numbers text[] := '{literal number,number,calculation}';
    v_texts text[] := '{literal string,text}';
    v_conditions text[] := '{literal boolean,condition}';
begin
    if p_other_kind in ('predicate', 'AND', 'OR') or p_kind in ('predicate', 'AND', 'OR') then
        perform howdah._invalid_selector(case when p_kind in ('predicate', 'AND', 'OR') then p_position
            else p_other_position end,
            'a condition compared', 'Put it in parentheses.');
    elsif p_op not in ('=', '<>') and (p_kind = any (v_conditions || '{literal string}')
        or p_other_kind = any (v_conditions || '{literal string}')) then
        perform howdah._invalid_selector(case when p_kind = any (v_conditions || '{literal string}') then p_position
            else p_other_position end, format('a %s compared by %s',
                replace(case when p_kind = any (v_conditions || '{literal string}') then p_kind else p_other_kind end,
                    'literal ', ''), p_op),
            'Strings and booleans have only = and <>.');
    end if;
    if p_other_kind = 'property' and p_kind <> 'property' then
        return howdah._selector_comparison(coalesce((array['>', '>=', '<',
            '<='])[array_position(array['<', '<=', '>', '>='], p_op)], p_op),
            p_other_kind, p_other_sql, p_other_position, p_kind, p_sql, p_position);
    elsif p_kind = 'property' then
        return case p_other_kind
            when 'literal number' then howdah._selector_typed(p_sql, 'number',
                format('%s::numeric %s %s', p_sql, p_op, p_other_sql))
            when 'literal string' then howdah._selector_typed(p_sql, 'string',
                format('(%s #>> ''{}'') collate "C" %s %s', p_sql, p_op, p_other_sql))
            when 'literal boolean' then howdah._selector_typed(p_sql, 'boolean',
                format('%s::boolean %s %s', p_sql, p_op, p_other_sql))
            when 'property' then format('howdah._selector_compare(%L, %s, %s)', p_op, p_sql, p_other_sql)
            when 'number' then format('howdah._selector_compare(%L, howdah._selector_number(%s), %s::numeric)', p_op,
                p_sql, p_other_sql)
            when 'calculation' then format('howdah._selector_compare(%L, howdah._selector_number(%s), %s)', p_op, p_sql,
                p_other_sql)
            else format('howdah._selector_compare(%L, %s, to_jsonb(%s))', p_op, p_sql, p_other_sql) end;
    elsif p_kind = any (v_numbers) and p_other_kind = any (v_numbers) then
        return case when 'calculation' in (p_kind, p_other_kind)
            then format('howdah._selector_compare(%L, (%s)::numeric, (%s)::numeric)', p_op, p_sql, p_other_sql)
            else format('%s %s %s', p_sql, p_op, p_other_sql) end;
    elsif p_kind = any (v_texts) and p_other_kind = any (v_texts) and p_op in ('=', '<>') then
        return format('%s collate "C" %s %s', p_sql, p_op, p_other_sql);
    elsif p_kind = any (v_conditions) and p_other_kind = any (v_conditions) then
        return format('(%s) %s (%s)', p_sql, p_op, p_other_sql);
    end if;
    return howdah._selector_unlike(p_sql, p_other_sql);
end
$$;
