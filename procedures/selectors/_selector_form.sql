-- howdah._selector_form(p_kinds, p_values, p_places, p_at): read what follows LIKE, IN and IS, which stands at p_at.
--
-- Returns  op (like, in, is null, not is null), val (the pattern as PostgreSQL's, or the strings as an array), and next, the word after it.
-- Raises   HD023 it breaks the grammar.
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
        perform howdah._invalid_selector(p_places[next], format('%s where %s is expected', howdah._selector_word(p_kinds[next], p_values[next]), v_wanted),
            case op when 'in' then 'IN takes strings: region IN (''EU'', ''US''). For numbers: code = 1 OR code = 2.'
                when 'like' then 'LIKE takes a string: region LIKE ''E%''. In it _ is any character and % any number of them.' end);
    end if;
    next := next + 1;
end
$$;

-- howdah._selector_pattern(p_pattern, p_escape, p_position): a pattern of LIKE with PostgreSQL's own escape, the backslash.
--
-- Returns  text, which never ends in the middle of an escape.
-- Raises   HD023 it has over 1000 signs %.
-- Role     internal
--
-- JMS has no escape character unless one is given. One that ends the pattern escapes nothing and is left out, as ActiveMQ does.
create or replace function howdah._selector_pattern(p_pattern text, p_escape text, p_position integer) returns text
language plpgsql immutable
as $$
declare
    v_out text := '';
    v_char text;
    v_escaped boolean := false;
begin
    if length(p_pattern) - length(replace(p_pattern, '%', '')) > 1000 then
        perform howdah._invalid_selector(p_position, 'a pattern with more than 1000 signs %');
    end if;
    foreach v_char in array string_to_array(p_pattern, null) loop
        if not v_escaped and v_char = p_escape then
            v_escaped := true;
            continue;
        end if;
        v_out := v_out || case when v_char = chr(92) or v_escaped and v_char in ('%', '_') then chr(92) || v_char else v_char end;
        v_escaped := false;
    end loop;
    return v_out;
end
$$;

-- howdah._selector_word(p_kind, p_value): a word of a selector as errors show it.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._selector_word(p_kind text, p_value text) returns text
language sql immutable
as $$
    select case p_kind when 'end' then 'the end' when 'string' then 'the string ' || quote_literal(left(p_value, 40))
        when 'number' then 'the number ' || left(p_value, 40) when 'name' then 'the name ' || left(p_value, 40)
        when 'bad' then 'the character ' || quote_literal(p_value) else p_kind end
$$;
