-- howdah._schema_fault(p_schema, p_root, p_at, p_depth): why a JSON Schema cannot be a contract.
--
-- Returns  text that begins with a JSON Pointer into the schema; NULL if it can be one.
-- Role     internal
create or replace function howdah._schema_fault(p_schema jsonb, p_root jsonb, p_at text, p_depth integer) returns text
language plpgsql immutable
as $$
declare
    v_word record;
    v_right boolean;
    v_inner record;
    v_fault text;
begin
    if jsonb_typeof(p_schema) = 'boolean' then
        return null;
    elsif jsonb_typeof(p_schema) is distinct from 'object' then
        return p_at || ' is no schema: an object, true or false';
    elsif p_depth > 30 then
        return p_at || ' lies more than 30 schemas deep';
    end if;
    for v_word in
        select e.key, e.value, k.value as kind, jsonb_typeof(e.value) as type
        from jsonb_each(p_schema) e left join howdah._schema_keywords() k on k.name = e.key
    loop
        v_right := case v_word.kind
            when 'count' then v_word.type = 'number' and (v_word.value #>> '{}')::numeric between 0 and 2147483647
                and (v_word.value #>> '{}')::numeric % 1 = 0
            when 'number' then v_word.type = 'number'
            when 'positive' then v_word.type = 'number' and (v_word.value #>> '{}')::numeric > 0
            when 'boolean' then v_word.type = 'boolean'
            when 'list' then v_word.type = 'array'
            when 'types' then v_word.type in ('string', 'array') and v_word.value <> '[]' and not exists (
                select from jsonb_array_elements(case v_word.type when 'array' then v_word.value
                    else jsonb_build_array(v_word.value) end) t
                where t.value #>> '{}' <> all ('{"null",boolean,object,array,number,integer,string}')
                   or jsonb_typeof(t.value) <> 'string')
            when 'names' then case v_word.type when 'array' then not exists (
                select from jsonb_array_elements(v_word.value) t where jsonb_typeof(t.value) <> 'string') end
            when 'lists' then case v_word.type when 'object' then not exists (
                select from jsonb_each(v_word.value) m cross join jsonb_array_elements(
                    case jsonb_typeof(m.value) when 'array' then m.value else '[0]' end) t
                where jsonb_typeof(t.value) <> 'string') end
            when 'schemas' then case v_word.type when 'array' then jsonb_array_length(v_word.value) > 0 end
            when 'members' then v_word.type = 'object'
            when 'ref' then v_word.type = 'string' and case
                when v_word.value #>> '{}' = '#' then true
                when v_word.value #>> '{}' ~ '^#/[$]defs/([^/~]|~[01])*$' then p_root -> '$defs'
                    ? replace(replace(substr(v_word.value #>> '{}', 9), '~1', '/'), '~0', '~') end
            when 'root' then v_word.type = 'string' and p_depth = 0
            when 'draft' then v_word.value = '"https://json-schema.org/draft/2020-12/schema"'
            else true end;
        if v_word.kind is null then
            return format('%s is a keyword that contracts do not have', howdah._pointer(p_at, v_word.key));
        elsif v_right is not true then
            return format('%s cannot be %s', howdah._pointer(p_at, v_word.key), left(v_word.value::text, 100));
        elsif v_word.kind = 'schema' then
            v_fault := howdah._schema_fault(v_word.value, p_root, howdah._pointer(p_at, v_word.key), p_depth + 1);
        elsif v_word.kind in ('schemas', 'members') then
            for v_inner in
                select m.key, m.value from jsonb_each(case v_word.type when 'object' then v_word.value else '{}' end) m
                union all
                select (a.n - 1)::text, a.value from jsonb_array_elements(
                    case v_word.type when 'array' then v_word.value else '[]' end) with ordinality a(value, n)
            loop
                v_fault := howdah._schema_fault(v_inner.value, p_root,
                    howdah._pointer(howdah._pointer(p_at, v_word.key), v_inner.key), p_depth + 1);
                exit when v_fault is not null;
            end loop;
        end if;
        if v_fault is not null then
            return v_fault;
        end if;
    end loop;
    return null;
end
$$;
