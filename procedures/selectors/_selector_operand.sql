-- howdah._selector_operand(p_op, p_value, p_position): a literal or a name as SQL over the alias m.
--
-- Returns  its kind and sql. Kinds: literal string, literal number, literal boolean; property (jsonb), text and number
--          (JMS headers).
-- Raises   HD023 a number is out of range, or a name cannot be a property.
-- Role     internal
--
-- Names and strings get into the SQL only as literals.
create or replace function howdah._selector_operand(
    p_op text, p_value text, p_position integer, out kind text, out sql text
) returns record
language plpgsql immutable
as $$
begin
    kind := case p_op when 'string' then 'literal string' when 'number' then 'literal number'
        when 'name' then 'property' else 'literal boolean' end;
    if p_op = 'number' then
        sql := howdah._selector_literal(p_value, p_position);
    elsif p_op <> 'name' then
        sql := case p_op when 'string' then quote_literal(p_value) else lower(p_op) end;
    elsif p_value = 'JMS_Howdah_Reliability' then
        kind := 'text';
        sql := 'howdah._level_name(m.reliability, m.nonpersistent)';
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
            perform howdah._invalid_selector(p_position,
                format('the name %s, which cannot be selected by', left(p_value, 40)),
                'Of names that begin with JMS there are JMSDeliveryMode, JMSPriority, JMSMessageID, JMSTimestamp, '
                'JMSCorrelationID, JMSType, and those of headers that begin with JMSX or JMS_.');
        end if;
    end if;
end
$$;
