-- howdah._selector_pattern(p_pattern, p_escape, p_position): a pattern of LIKE, with the backslash, PostgreSQL's own
-- escape character.
--
-- Returns  text, which never ends in the middle of an escape.
-- Raises   HD023 it has more than 1000 signs %.
-- Role     internal
--
-- JMS has no escape character unless one is given. One that ends the pattern escapes nothing and is left out, as in
-- ActiveMQ.
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
        v_out := v_out || case when v_char = chr(92) or v_escaped and v_char in ('%', '_') then chr(92) || v_char
            else v_char end;
        v_escaped := false;
    end loop;
    return v_out;
end
$$;
