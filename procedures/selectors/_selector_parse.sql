-- howdah._selector_parse(p_selector): a selector in postfix order, each operator after its operands.
--
-- Returns  op, pos (its place) and val. Operands: string, number, name, TRUE, FALSE. Operators: neg, pos, * / + - = <>
--          < <= > >=, NOT, AND, OR. The operators between, like (val: pattern), in (val: array) and is null may have
--          not before them. group: the operand before it stood in parentheses. No row for NULL and blank text.
-- Raises   HD023 it is no valid syntax.
-- Role     internal
--
-- This is Dijkstra's shunting yard: it needs no recursion, so no text can exhaust the stack. Ranks: OR 1, AND 2, NOT 3,
-- comparisons 4, + - 5, * / 6, signs 7.
create or replace function howdah._selector_parse(p_selector text) returns table (op text, pos integer, val text)
language plpgsql immutable
as $$
declare
    v_kinds text[];
    v_values text[];
    v_places integer[];
    v_kind text;
    v_not text;
    v_rank integer;
    v_stack text[] := '{}';
    v_ranks integer[] := '{}';
    v_starts integer[] := '{}';
    v_top integer := 0;
    v_want boolean := true;
    i integer := 0;
begin
    select array_agg(t.kind order by t.position), array_agg(t.value order by t.position),
        array_agg(t.position order by t.position)
    into v_kinds, v_values, v_places
    from howdah._selector_tokens(p_selector) t;
    while v_kinds is not null loop
        i := i + 1;
        v_kind := v_kinds[i];
        pos := v_places[i];
        if v_kind = 'bad' then
            perform howdah._selector_bad_word(v_values[i], pos);
        elsif v_want and v_kind = any ('{string,number,name,TRUE,FALSE}') then
            v_want := false;
            op := v_kind;
            val := v_values[i];
            if v_kind = 'number' and v_stack[v_top] = 'neg' then
                val := '-' || val;
                pos := v_starts[v_top];
                v_top := v_top - 1;
            end if;
            return next;
            continue;
        elsif v_want then
            v_rank := case when v_kind = '(' then 0
                when v_kind = 'NOT' and coalesce(v_ranks[nullif(v_top, 0)], 0) <= 3 then 3
                when v_kind in ('+', '-') then 7 end;
            if v_rank is null then
                perform howdah._invalid_selector(pos,
                    howdah._selector_word(v_kind, v_values[i]) || ' where a value is expected');
            end if;
            v_kind := case when v_rank < 7 then v_kind when v_kind = '-' then 'neg' else 'pos' end;
        else
            v_not := '';
            if v_kind = 'NOT' and v_kinds[i + 1] in ('BETWEEN', 'LIKE', 'IN') then
                i := i + 1;
                v_kind := v_kinds[i];
                v_not := 'not ';
            end if;
            v_rank := case when v_kind in ('end', ')') then 0 when v_kind = 'OR' then 1 when v_kind = 'AND' then 2
                when v_kind = any ('{=,<>,<,<=,>,>=,BETWEEN,LIKE,IN,IS}') then 4
                when v_kind in ('+', '-') then 5 when v_kind in ('*', '/') then 6 end;
            if v_rank is null then
                perform howdah._invalid_selector(pos,
                    howdah._selector_word(v_kind, v_values[i]) || ' where an operator is expected');
            end if;
            val := null;
            while v_top > 0 and v_stack[v_top] <> '(' and v_ranks[v_top] >= v_rank + (v_rank = 4)::integer loop
                exit when v_kind = 'AND' and v_stack[v_top] like '%BETWEEN';
                if v_stack[v_top] like '%BETWEEN' then
                    perform howdah._invalid_selector(pos, 'BETWEEN without its AND');
                end if;
                op := v_stack[v_top];
                pos := v_starts[v_top];
                v_top := v_top - 1;
                return next;
            end loop;
            pos := v_places[i - length(v_not) / 4];
            if v_kind = 'AND' and v_top > 0 and v_stack[v_top] like '%BETWEEN' then
                v_stack[v_top] := lower(v_stack[v_top]);
                v_want := true;
                continue;
            elsif v_rank = 4 and v_top > 0 and v_ranks[v_top] = 4 then
                perform howdah._invalid_selector(pos, 'a comparison of a comparison',
                    'Put the first one in parentheses, or join them by AND.');
            elsif v_kind = 'end' then
                if v_top > 0 then
                    perform howdah._invalid_selector(v_starts[v_top], 'a ( that is not closed');
                end if;
                return;
            elsif v_kind = ')' then
                if v_top = 0 then
                    perform howdah._invalid_selector(pos, 'a ) that was not opened');
                end if;
                v_top := v_top - 1;
                op := 'group';
                return next;
                continue;
            elsif v_kind in ('LIKE', 'IN', 'IS') then
                select v_not || f.op, f.val, f.next - 1 into op, val, i
                from howdah._selector_form(v_kinds, v_values, v_places, i) f;
                return next;
                continue;
            end if;
            v_kind := v_not || v_kind;
        end if;
        v_want := true;
        v_top := v_top + 1;
        if v_top > 200 then
            perform howdah._invalid_selector(pos, 'more than 200 levels');
        end if;
        v_stack[v_top] := v_kind;
        v_ranks[v_top] := v_rank;
        v_starts[v_top] := pos;
    end loop;
end
$$;
