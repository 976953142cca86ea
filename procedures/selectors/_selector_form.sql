-- howdah._selector_form(p_kinds, p_values, p_places, p_at): read what follows LIKE, IN or IS at p_at.
--
-- Returns  op: like, in, is null or not is null. val: the pattern in PostgreSQL's form, or the strings as an array.
--          next: the word after it.
-- Raises   HD023 it is no valid syntax.
-- Role     internal
create or replace function howdah._selector_form(
    p_kinds text[], p_values text[], p_places integer[], p_at integer, out op text, out val text, out next integer
) returns record
language plpgsql immutable
as $$
declare
    v_strings text[] := '{}';
    v_wanted text;
begin
    next := p_at + 1;
    op := case p_kinds[p_at] when 'IS' then 'is null' else lower(p_kinds[p_at]) end;
    if op = 'is null' then
        if p_kinds[next] = 'NOT' then
            op := 'not is null';
            next := next + 1;
        end if;
        v_wanted := case when p_kinds[next] <> 'NULL' then 'NULL' end;
    elsif op = 'like' then
        v_wanted := case when p_kinds[next] <> 'string' then 'a string' end;
        if v_wanted is null and p_kinds[next + 1] = 'ESCAPE' then
            if p_kinds[next + 2] <> 'string' or length(p_values[next + 2]) <> 1 then
                perform howdah._invalid_selector(p_places[next + 2], 'ESCAPE takes a string of one character, not '
                    || howdah._selector_word(p_kinds[next + 2], p_values[next + 2]));
            end if;
            val := howdah._selector_pattern(p_values[next], p_values[next + 2], p_places[next]);
            next := next + 2;
        elsif v_wanted is null then
            val := howdah._selector_pattern(p_values[next], '', p_places[next]);
        end if;
    else
        v_wanted := case when p_kinds[next] <> '(' then '(' end;
        while v_wanted is null loop
            next := next + 1;
            v_wanted := case when p_kinds[next] <> 'string' then 'a string' end;
            exit when v_wanted is not null;
            v_strings := v_strings || p_values[next];
            next := next + 1;
            v_wanted := case when p_kinds[next] not in (',', ')') then 'a comma or )' end;
            exit when p_kinds[next] = ')';
        end loop;
        val := v_strings::text;
    end if;
    if v_wanted is not null then
        if p_kinds[next] = 'bad' then
            perform howdah._selector_bad_word(p_values[next], p_places[next]);
        end if;
        perform howdah._invalid_selector(p_places[next],
            format('%s where %s is expected', howdah._selector_word(p_kinds[next], p_values[next]), v_wanted),
            case op when 'in' then 'IN takes strings: region IN (''EU'', ''US''). For numbers: code = 1 OR code = 2.'
                when 'like' then
                    'LIKE takes a string: region LIKE ''E%''. In it _ is any character and % any number of them.' end);
    end if;
    next := next + 1;
end
$$;
