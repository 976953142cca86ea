-- howdah._selector_tokens(p_selector): the words of a selector.
--
-- Returns  position (of its first character, from 1), kind and value of each word. kind is string, number, name or end,
--          or the keyword (in capitals) or symbol itself. The value of a string is the text between its quotes. No row
--          for NULL and blank text.
-- Raises   HD023 a character begins no word, or the text is too long.
-- Role     internal
--
-- A name consists of letters, digits, _ and $, as in Java. Outside ASCII, every character counts except spaces and
-- punctuation.
create or replace function howdah._selector_tokens(p_selector text) returns table (
    "position" integer, kind text, value text
)
language plpgsql immutable
as $$
begin
    if length(p_selector) > 32768 then
        perform howdah._invalid_selector(32769, 'it has more than 32768 characters',
            'Set a header when sending, and select by that.');
    end if;
    return query
    select c.place, case when c.word[2] is not null then 'string' when c.word[3] is not null then 'number'
            when c.word[4] is not null then case when upper(c.word[4] collate "C") = any (
                '{"NULL",TRUE,FALSE,NOT,AND,OR,BETWEEN,LIKE,IN,IS,ESCAPE}') then upper(c.word[4] collate "C")
                else 'name' end
            when c.word[5] is not null then c.word[5] else 'bad' end,
        case when c.word[2] is not null then replace(substr(c.word[2], 2, length(c.word[2]) - 2), '''''', '''')
            else coalesce(c.word[3], c.word[4], c.word[5], c.word[6]) end
    from (
        select w.word, (sum(length(w.whole)) over (order by w.n) - length(w.whole))::integer + 1 as place
        from (
            select m.word, m.n, coalesce(m.word[1], m.word[2], m.word[3], m.word[4], m.word[5], m.word[6]) as whole
            from regexp_matches(p_selector collate "C",
                E'([ \\t\\n\\r\\f]+)'
                '|(''(?:[^'']|'''')*'')'
                '|((?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[lL]|0[xX][0-9a-fA-F]+[lL]?)'
                '|([^[:space:]\\x01-#%-@[-^`{-\\xbf\\u2000-\\u206f\\u3000-\\u303f]'
                '[^[:space:]\\x01-#%-/:-@[-^`{-\\xbf\\u2000-\\u206f\\u3000-\\u303f]*)'
                '|(<>|<=|>=|[-+*/=<>(),])'
                '|(''(?:[^'']|'''')*$|.)', 'g') with ordinality m(word, n)
        ) w
    ) c
    where c.word[1] is null
    order by c.place;
    if found then
        return query select length(p_selector) + 1, 'end', '';
    end if;
end
$$;
