-- howdah._check_options(p_owner, p_options): refuse options of a queue, topic, listener, service or the engine that are
-- unknown or wrong.
--
-- Raises   HD003 a name is not a valid queue name; HD004 an option is unknown or wrong.
-- Role     internal
create or replace function howdah._check_options(p_owner text, p_options jsonb) returns void
language plpgsql volatile
as $$
declare
    v_option record;
    v_right boolean;
begin
    if p_options is null or jsonb_typeof(p_options) <> 'object' then
        raise exception using errcode = 'HD004', message = 'options must be a JSON object',
            hint = case p_owner when 'queue' then 'For example {"max_failed_deliveries": 3}.'
                when 'topic' then 'For example {"retain_ms": 86400000}.'
                when 'engine' then 'For example {"max_count": 100000}.'
                when 'service' then 'For example {"active": true}.'
                else 'For example {"sequential_failures": 3}.' end;
    end if;
    for v_option in
        select o.key, o.value, o.value #>> '{}' as text, jsonb_typeof(o.value) as type, k.kind, k.lowest, k.highest,
            k.choices, k.nullable
        from jsonb_each(p_options) o left join howdah._option_kinds() k on k.key = o.key and k.owner = p_owner
    loop
        if v_option.kind is null then
            raise exception using errcode = 'HD004',
                message = format('there is no option %s', quote_literal(left(v_option.key, 100))),
                hint = 'Options are: ' || (select string_agg(k.key, ', ') from howdah._option_kinds() k
                    where k.owner = p_owner) || '.';
        end if;
        continue when v_option.type = 'null' and v_option.nullable;
        v_right := case v_option.kind
            when 'integer' then v_option.type = 'number'
                and v_option.text::numeric between v_option.lowest and v_option.highest
                and v_option.text::numeric % 1 = 0
            when 'number' then v_option.type = 'number'
                and v_option.text::numeric between v_option.lowest and v_option.highest
            when 'boolean' then v_option.type = 'boolean'
            when 'size' then howdah._parse_size(v_option.text) is not null
            when 'roles' then case v_option.type when 'array' then not exists (
                select from jsonb_array_elements(v_option.value) r where jsonb_typeof(r.value) <> 'string') end
            when 'choice' then v_option.type = 'string' and v_option.text = any (v_option.choices)
            when 'options' then v_option.type = 'object'
            when 'schema' then v_option.type in ('object', 'boolean')
            when 'rate' then v_option.type = 'string'
                and (select r.burst is not null from howdah._parse_rate(v_option.text) r)
            when 'header' then v_option.type = 'string' and length(v_option.text) between 1 and 200
            when 'rule_set' then v_option.type = 'string'
                and exists (select from howdah.access_rule_sets s where s.name = v_option.text)
            else v_option.type = 'string' end;
        if v_right is not true then
            raise exception using errcode = 'HD004',
                message = format('option %s cannot be %s', v_option.key, left(v_option.value::text, 100)),
                hint = case v_option.kind
                    when 'integer' then format('It is a whole number from %s to %s.', v_option.lowest, v_option.highest)
                    when 'number' then format('It is a number from %s to %s.', v_option.lowest, v_option.highest)
                    when 'boolean' then 'It is true or false.'
                    when 'size' then 'It is a number of bytes, or a text such as "10k" or "5m"; 0 or -1: no limit.'
                    when 'choice' then format('It is one of: %s.', array_to_string(v_option.choices, ', '))
                    when 'options' then 'It is a JSON object of options of a queue, such as {"message_limit": 1000}.'
                    when 'roles' then 'It is an array of names of roles, or null for anybody.'
                    when 'text' then 'It is a text.'
                    when 'schema' then 'It is a JSON Schema; see docs/contracts.md.'
                    when 'rate' then 'It is a rate such as "100/1s" or "600/1h burst 20"; see docs/handler-limits.md.'
                    when 'header' then 'It is the name of a header, of 1 to 200 characters.'
                    when 'function' then 'It is the name of a function with its schema, such as "shop.poison".'
                    when 'rule_set' then 'It is the name of a set of access rules (howdah.list_rule_sets()).'
                    when 'selector' then 'It is a selector, such as "price > 100".'
                    else 'It is the name of a queue.' end;
        end if;
        if v_option.kind = 'schema' then
            perform howdah._check_schema(v_option.value);
        elsif v_option.kind = 'name' then
            perform howdah._check_name(v_option.text);
        end if;
    end loop;
end
$$;
