-- howdah._rule_lines(p_text): the logical lines of a properties file, without comments and empty ones.
--
-- Returns  the number of the line that each begins at, and its text.
-- Role     internal
--
-- A line that ends with an odd number of backslashes continues on the next one, whose leading spaces do not count.
create or replace function howdah._rule_lines(p_text text) returns table (line integer, content text)
language plpgsql immutable
as $$
declare
    v_line text;
    v_number integer := 0;
begin
    content := null;
    foreach v_line in array regexp_split_to_array(p_text, E'\r\n|\n|\r') loop
        v_number := v_number + 1;
        v_line := ltrim(v_line, E' \t\f');
        if content is null then
            continue when v_line = '' or v_line ~ '^[#!]';
            line := v_number;
        end if;
        content := concat(content, v_line);
        if length(substring(v_line from E'(\\\\*)$')) % 2 = 1 then
            content := left(content, -1);
            continue;
        end if;
        return next;
        content := null;
    end loop;
    if content is not null then
        return next;
    end if;
end
$$;
