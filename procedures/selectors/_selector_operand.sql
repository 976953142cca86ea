-- howdah._selector_operand(p_op, p_value, p_position): a literal or a name as SQL over the alias m.
--
-- Returns  its kind and sql. Kinds: literal string, literal number, literal boolean; property (jsonb), text and number (JMS headers).
-- Raises   HD023 a number out of range, or a name that is no property's.
-- Role     internal
--
-- Names and strings reach the SQL as literals only.
create or replace function howdah._selector_operand(p_op text, p_value text, p_position integer, out kind text, out sql text) returns record
language plpgsql immutable
as $$
begin
    kind := case p_op when 'string' then 'literal string' when 'number' then 'literal number' when 'name' then 'property' else 'literal boolean' end;
    if p_op = 'number' then
        sql := howdah._selector_literal(p_value, p_position);
    elsif p_op <> 'name' then
        sql := case p_op when 'string' then quote_literal(p_value) else lower(p_op) end;
    elsif p_value !~ '^JMS' or p_value ~ '^JMS[X_]' then
        sql := format('(m.headers -> %L)', p_value);
    else
        kind := case when p_value in ('JMSPriority', 'JMSTimestamp') then 'number' else 'text' end;
        sql := case p_value
            when 'JMSDeliveryMode' then '(case when m.nonpersistent then ''NON_PERSISTENT'' else ''PERSISTENT'' end)'
            when 'JMSPriority' then '(9 - m.rank)'
            when 'JMSMessageID' then '(''ID:'' || m.message_id)'
            when 'JMSTimestamp' then 'trunc(extract(epoch from m.sent_at) * 1000)'
            when 'JMSCorrelationID' then 'm.correlation_id'
            when 'JMSType' then 'm.message_type' end;
        if sql is null then
            perform howdah._invalid_selector(p_position, format('the name %s, which cannot be selected by', left(p_value, 40)),
                'Of names that begin with JMS there are JMSDeliveryMode, JMSPriority, JMSMessageID, JMSTimestamp, JMSCorrelationID, JMSType, and those of headers that begin with JMSX or JMS_.');
        end if;
    end if;
end
$$;

-- howdah._selector_literal(p_word, p_position): a number of a selector as SQL.
--
-- Returns  decimal digits: without a point an integer of 64 bits, with one a double.
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
        perform howdah._invalid_selector(p_position, format('the number %s', left(p_word, 40)), 'Java reads it as octal: leave out the leading zeros.');
    elsif v_digits ~ '^0[xX]' then
        v_digits := ltrim(substr(v_digits, 3), '0');
        if length(v_digits) <= 16 then
            -- By halves: the cast from bits is signed. Java, too, reads sixteen digits as the 64 bits of a signed number.
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
    if v_number is null or abs(v_number) = 'Infinity' or v_digits !~ '[.eE]' and v_number not between -9223372036854775808 and 9223372036854775807 then
        perform howdah._invalid_selector(p_position, format('the number %s is out of range', left(p_word, 40)),
            'Integers have 64 bits; with a point or an exponent it is a double.');
    end if;
    return case when v_number < 0 then '(' || v_number || ')' else v_number::text end;
end
$$;

-- howdah._selector_typed(p_value, p_type, p_test): the SQL of a test of a header that is false if the header is of another type, and unknown without it.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._selector_typed(p_value text, p_type text, p_test text) returns text
language sql immutable
as $$
    select format('case jsonb_typeof%1$s when %2$L then %3$s else jsonb_typeof%1$s = ''null'' and null end', p_value, p_type, p_test)
$$;

-- howdah._selector_condition(p_kind, p_sql, p_position): an operand as a condition.
--
-- Returns  text. A header that is no boolean is false.
-- Raises   HD023 it is a string, a number or a calculation.
-- Role     internal
create or replace function howdah._selector_condition(p_kind text, p_sql text, p_position integer) returns text
language plpgsql immutable
as $$
begin
    if p_kind = 'property' then
        return howdah._selector_typed(p_sql, 'boolean', p_sql || '::boolean');
    elsif p_kind not in ('literal boolean', 'condition', 'predicate', 'AND', 'OR') then
        perform howdah._invalid_selector(p_position, format('a %s where a condition is expected', replace(p_kind, 'literal ', '')));
    end if;
    return p_sql;
end
$$;

-- howdah._selector_numeric(p_kind, p_sql, p_position): an operand as a number to calculate with.
--
-- Returns  text.
-- Raises   HD023 it is no number.
-- Role     internal
create or replace function howdah._selector_numeric(p_kind text, p_sql text, p_position integer) returns text
language plpgsql immutable
as $$
begin
    if p_kind = 'property' then
        return format('howdah._selector_number(%s)', p_sql);
    elsif p_kind not in ('literal number', 'number', 'calculation') then
        perform howdah._invalid_selector(p_position, format('a %s where a number is expected', replace(p_kind, 'literal ', '')));
    end if;
    return p_sql;
end
$$;
