-- howdah._selector_word(p_kind, p_value): a word of a selector as error messages show it.
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
