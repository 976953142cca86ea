-- howdah._contract_fault(p_schema, p_value, p_root, p_at, p_depth, p_until): why a value does not keep to a schema.
--
-- Returns  text that begins with the JSON Pointer of what is wrong; NULL if it keeps to it.
-- Raises   HD050 the value is nested too deeply, or the real clock has passed p_until.
-- Role     internal
--
-- p_root is the whole contract, in which references are looked up. A value more than 200 schemas deep would exhaust the
-- stack. Both cases raise errors and return no fault, because the keyword not would turn a fault into a success.
--
-- Without offset 0 the planner would merge the subselect, and compute each fault twice.
create or replace function howdah._contract_fault(
    p_schema jsonb, p_value jsonb, p_root jsonb, p_at text, p_depth integer, p_until timestamptz
) returns text
language plpgsql volatile
as $$
declare
    v_type constant text := jsonb_typeof(p_value);
    v_fault text;
    v_kept integer;
begin
    if p_schema = 'true' or p_schema = '{}' then
        return null;
    elsif p_schema = 'false' then
        return p_at || ' is not permitted (false)';
    elsif p_depth > 200 then
        raise exception using errcode = 'HD050', message = p_at || ' is nested too deeply';
    elsif clock_timestamp() > p_until then
        raise exception using errcode = 'HD050', message = 'its check takes more than five seconds';
    end if;
    v_fault := coalesce(howdah._scalar_fault(p_schema, p_value, v_type, p_at), case v_type
        when 'object' then howdah._object_fault(p_schema, p_value, p_root, p_at, p_depth, p_until)
        when 'array' then howdah._array_fault(p_schema, p_value, p_root, p_at, p_depth, p_until) end);
    if v_fault is null and p_schema ? '$ref' then
        v_fault := howdah._contract_fault(case when p_schema ->> '$ref' = '#' then p_root
            else p_root -> '$defs' -> replace(replace(substr(p_schema ->> '$ref', 9), '~1', '/'), '~0', '~') end,
            p_value, p_root, p_at, p_depth + 1, p_until);
    end if;
    if v_fault is null and p_schema ? 'allOf' then
        v_fault := (select f.fault from jsonb_array_elements(p_schema -> 'allOf') s
            cross join lateral (
                select howdah._contract_fault(s.value, p_value, p_root, p_at, p_depth + 1, p_until) as fault
                offset 0) f
            where f.fault is not null limit 1);
    end if;
    if v_fault is null and p_schema ?| array['anyOf', 'oneOf', 'not'] then
        select count(*) filter (where s.key = 'anyOf' and s.fault is null) into v_kept
        from (select 'anyOf' as key,
                  howdah._contract_fault(a.value, p_value, p_root, p_at, p_depth + 1, p_until) as fault
              from jsonb_array_elements(p_schema -> 'anyOf') a) s;
        if p_schema ? 'anyOf' and v_kept = 0 then
            return p_at || ' keeps to none of the schemas (anyOf)';
        end if;
        select count(*) into v_kept from jsonb_array_elements(p_schema -> 'oneOf') o
        where howdah._contract_fault(o.value, p_value, p_root, p_at, p_depth + 1, p_until) is null;
        if p_schema ? 'oneOf' and v_kept <> 1 then
            return format('%s keeps to %s of the schemas, not to one (oneOf)', p_at, v_kept);
        elsif p_schema ? 'not'
              and howdah._contract_fault(p_schema -> 'not', p_value, p_root, p_at, p_depth + 1, p_until) is null then
            return p_at || ' keeps to a schema that it must not keep to (not)';
        end if;
    end if;
    if v_fault is null and p_schema ? 'if' then
        v_kept := case when howdah._contract_fault(p_schema -> 'if', p_value, p_root, p_at, p_depth + 1, p_until)
            is null then 1 else 0 end;
        v_fault := case
            when v_kept = 1 and p_schema ? 'then'
                then howdah._contract_fault(p_schema -> 'then', p_value, p_root, p_at, p_depth + 1, p_until)
            when v_kept = 0 and p_schema ? 'else'
                then howdah._contract_fault(p_schema -> 'else', p_value, p_root, p_at, p_depth + 1, p_until) end;
    end if;
    return v_fault;
end
$$;
