-- howdah._compile_selector(p_selector): compile a JMS message selector into one boolean SQL expression.
--
-- Returns  text; NULL for a NULL, empty or blank selector. The expression reads an alias m with the columns of
--          howdah.msgs and nonpersistent (boolean). It is true, false or NULL (unknown), and never raises an error,
--          whatever the headers hold. It depends on the selector alone, so it can be stored.
-- Raises   HD023 the selector is invalid.
-- Role     internal
--
-- Names and strings of the selector stand in it only as literals. Execute it where the search_path is pinned.
create or replace function howdah._compile_selector(p_selector text) returns text
language plpgsql immutable
as $$
declare
    v_op record;
    v_new record;
    v_kinds text[] := '{}';
    v_sqls text[] := '{}';
    v_places integer[] := '{}';
    v_depths integer[] := '{}';
    v_base text;
    v_sql text;
    v_kind text;
    n integer := 0;
begin
    for v_op in select p.op, p.pos, p.val from howdah._selector_parse(p_selector) p loop
        v_base := case when v_op.op like 'not %' then substr(v_op.op, 5) else v_op.op end;
        if v_op.op = any ('{string,number,name,TRUE,FALSE}') then
            v_new := howdah._selector_operand(v_op.op, v_op.val, v_op.pos);
            n := n + 1;
            v_kinds[n] := v_new.kind;
            v_sqls[n] := v_new.sql;
            v_places[n] := v_op.pos;
            v_depths[n] := 0;
            continue;
        elsif v_op.op = 'group' then
            v_kinds[n] := case when v_kinds[n] in ('predicate', 'AND', 'OR') then 'condition' else v_kinds[n] end;
            if v_kinds[n] = 'condition' then
                v_sqls[n] := '(' || v_sqls[n] || ')';
            end if;
            continue;
        elsif v_op.op in ('neg', 'pos') then
            v_sql := howdah._selector_numeric(v_kinds[n], v_sqls[n], v_places[n]);
            v_kind := case when v_op.op = 'pos' and v_kinds[n] = 'literal number' then v_kinds[n]
                else 'calculation' end;
            v_places[n] := v_op.pos;
            if v_op.op = 'neg' then
                v_sql := format('howdah._selector_arithmetic(''-'', 0, %s)', v_sql);
            end if;
        elsif v_op.op = 'NOT' then
            v_kind := 'predicate';
            v_sql := format('not (%s)', howdah._selector_condition(v_kinds[n], v_sqls[n], v_places[n]));
        elsif v_base in ('is null', 'like', 'in') then
            v_kind := 'predicate';
            v_sql := howdah._selector_predicate(v_base, v_op.val, v_kinds[n], v_sqls[n], v_places[n]);
            if v_base <> v_op.op then
                v_sql := format('not (%s)', v_sql);
            end if;
        elsif v_base = 'between' then
            n := n - 2;
            v_kind := 'predicate';
            v_sql := format(case when v_base = v_op.op then '(%s and %s)' else '(%s or %s)' end,
                howdah._selector_comparison(case when v_base = v_op.op then '>=' else '<' end,
                    v_kinds[n], v_sqls[n], v_places[n], v_kinds[n + 1], v_sqls[n + 1], v_places[n + 1]),
                howdah._selector_comparison(case when v_base = v_op.op then '<=' else '>' end,
                    v_kinds[n], v_sqls[n], v_places[n], v_kinds[n + 2], v_sqls[n + 2], v_places[n + 2]));
        elsif v_op.op in ('AND', 'OR') then
            n := n - 1;
            v_kind := v_op.op;
            v_sql := howdah._selector_condition(v_kinds[n], v_sqls[n], v_places[n]) || ' ' || lower(v_kind) || ' '
                || howdah._selector_condition(v_kinds[n + 1], v_sqls[n + 1], v_places[n + 1]);
        elsif v_op.op in ('+', '-', '*', '/') then
            n := n - 1;
            v_kind := 'calculation';
            v_sql := format('howdah._selector_arithmetic(%L, %s, %s)', v_op.op,
                howdah._selector_numeric(v_kinds[n], v_sqls[n], v_places[n]),
                howdah._selector_numeric(v_kinds[n + 1], v_sqls[n + 1], v_places[n + 1]));
            v_depths[n] := greatest(v_depths[n], v_depths[n + 1]) + 1;
            if v_depths[n] > 200 then
                perform howdah._invalid_selector(v_op.pos, 'more than 200 levels');
            end if;
        else
            n := n - 1;
            v_kind := 'predicate';
            v_sql := howdah._selector_comparison(v_op.op, v_kinds[n], v_sqls[n], v_places[n], v_kinds[n + 1],
                v_sqls[n + 1], v_places[n + 1]);
        end if;
        v_kinds[n] := v_kind;
        v_sqls[n] := v_sql;
    end loop;
    return case when n = 1 then howdah._selector_condition(v_kinds[1], v_sqls[1], v_places[1]) end;
end
$$;
