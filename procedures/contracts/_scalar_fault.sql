-- howdah._scalar_fault(p_schema, p_value, p_type, p_at): why a value does not keep to the keywords for any value, for
-- numbers and for strings.
--
-- Returns  text that begins with the value's JSON Pointer; NULL if it does.
-- Role     internal
--
-- Lengths are characters. A number without a fraction is an integer, however it is written.
create or replace function howdah._scalar_fault(p_schema jsonb, p_value jsonb, p_type text, p_at text) returns text
language plpgsql immutable
as $$
declare
    v_types constant jsonb := case jsonb_typeof(p_schema -> 'type') when 'string'
        then jsonb_build_array(p_schema -> 'type') else p_schema -> 'type' end;
    v_number constant numeric := case p_type when 'number' then (p_value #>> '{}')::numeric end;
    v_length constant integer := case p_type when 'string' then length(p_value #>> '{}') end;
begin
    return p_at || case
        when not (v_types ? p_type or p_type = 'number' and v_number % 1 = 0 and v_types ? 'integer')
            then format(' is %s, not %s (type)', p_type, (select string_agg(t.value, ' or ')
                from jsonb_array_elements_text(v_types) t))
        when not exists (select from jsonb_array_elements(p_schema -> 'enum') e where e.value = p_value)
            and p_schema ? 'enum' then ' is none of the permitted values (enum)'
        when p_schema -> 'const' <> p_value then ' is not the permitted value (const)'
        when v_number < (p_schema ->> 'minimum')::numeric
            then format(' is less than %s (minimum)', p_schema ->> 'minimum')
        when v_number > (p_schema ->> 'maximum')::numeric
            then format(' is more than %s (maximum)', p_schema ->> 'maximum')
        when v_number <= (p_schema ->> 'exclusiveMinimum')::numeric
            then format(' is not more than %s (exclusiveMinimum)', p_schema ->> 'exclusiveMinimum')
        when v_number >= (p_schema ->> 'exclusiveMaximum')::numeric
            then format(' is not less than %s (exclusiveMaximum)', p_schema ->> 'exclusiveMaximum')
        when v_number % (p_schema ->> 'multipleOf')::numeric <> 0
            then format(' is no multiple of %s (multipleOf)', p_schema ->> 'multipleOf')
        when v_length < (p_schema ->> 'minLength')::numeric
            then format(' is shorter than %s characters (minLength)', p_schema ->> 'minLength')
        when v_length > (p_schema ->> 'maxLength')::numeric
            then format(' is longer than %s characters (maxLength)', p_schema ->> 'maxLength')
        end;
end
$$;
