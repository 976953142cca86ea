-- howdah._selector_literal(p_word, p_position): a number of a selector as SQL.
--
-- Returns  decimal digits: an integer of 64 bits without a point, a double with one.
-- Raises   HD023 it is out of range, or octal.
-- Role     internal
create or replace function howdah._selector_literal(p_word text, p_position integer) returns text
language plpgsql immutable
as $$
declare
    v_digits text := rtrim(ltrim(p_word, '-'), 'lL');
    v_number numeric := 0;
begin
    if v_digits ~ '^0[0-9]+$' then
        perform howdah._invalid_selector(p_position, format('the number %s', left(p_word, 40)),
            'Java reads it as octal: leave out the leading zeros.');
    elsif v_digits ~ '^0[xX]' then
        v_digits := ltrim(substr(v_digits, 3), '0');
        if length(v_digits) <= 16 then
            -- Convert by halves, because the cast from bits is signed. Java also reads sixteen digits as the 64 bits of
            -- a signed number.
            v_number := ('x' || lpad(v_digits, 16, '0'))::bit(64)::bigint;
        else
            v_number := 1e20;
        end if;
        if p_word like '-%' then
            v_number := -v_number;
        end if;
    elsif length(substring(v_digits from '[eE][+-]?0*([0-9]*)')) > 3 then
        v_number := 'Infinity';
    else
        v_number := (case when p_word like '-%' then '-' else '' end || v_digits)::numeric;
        if v_digits ~ '[.eE]' then
            -- A double that is not 0 but reads as 0 or as Infinity is out of range.
            v_number := case when v_number = 0 then 0.0 else nullif(howdah._selector_double(v_number), 0) end;
        end if;
    end if;
    if v_number is null or abs(v_number) = 'Infinity' or v_digits !~ '[.eE]'
       and v_number not between -9223372036854775808 and 9223372036854775807 then
        perform howdah._invalid_selector(p_position, format('the number %s is out of range', left(p_word, 40)),
            'Integers have 64 bits; with a point or an exponent it is a double.');
    end if;
    return case when v_number < 0 then '(' || v_number || ')' else v_number::text end;
end
$$;
