-- howdah._selector_bad_word(p_word, p_position): refuse a character that begins no word of a selector.
--
-- Raises   HD023 always.
-- Role     internal
create or replace function howdah._selector_bad_word(p_word text, p_position integer) returns void
language plpgsql immutable
as $$
begin
    perform howdah._invalid_selector(p_position, case when p_word like '''%' then 'a string that is not closed'
            else format('the character %s', quote_literal(p_word)) end,
        case left(p_word, 1) when '''' then 'A quote inside a string is written twice: ''Tom''''s''.'
            when '"' then 'Strings stand in single quotes; names in none.'
            when '!' then 'Unequal is <>.'
            when '%' then 'There is no remainder in selectors.'
            when '.' then 'A name is made of letters, digits, _ and $.' end);
end
$$;
