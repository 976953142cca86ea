-- howdah._object_fault(p_schema, p_value, p_root, p_at, p_depth, p_until): why an object does not keep to the keywords
-- for objects.
--
-- Returns  text that begins with a JSON Pointer; NULL if it does.
-- Role     internal
create or replace function howdah._object_fault(
    p_schema jsonb, p_value jsonb, p_root jsonb, p_at text, p_depth integer, p_until timestamptz
) returns text
language plpgsql volatile
as $$
declare
    v_count constant bigint := (select count(*) from jsonb_object_keys(p_value));
    v_fault text;
    v_member record;
begin
    v_fault := (select format('%s lacks the member %s (required)', p_at, to_json(r.value))
        from jsonb_array_elements_text(p_schema -> 'required') r where not p_value ? r.value limit 1);
    v_fault := coalesce(v_fault, p_at || case
        when v_count < (p_schema ->> 'minProperties')::numeric
            then format(' has fewer than %s members (minProperties)', p_schema ->> 'minProperties')
        when v_count > (p_schema ->> 'maxProperties')::numeric
            then format(' has more than %s members (maxProperties)', p_schema ->> 'maxProperties') end,
        (select format('%s lacks the member %s, which goes with %s (dependentRequired)', p_at, to_json(r.value),
            to_json(d.key))
         from jsonb_each(p_schema -> 'dependentRequired') d cross join jsonb_array_elements_text(d.value) r
         where p_value ? d.key and not p_value ? r.value limit 1));
    if v_fault is not null then
        return v_fault;
    end if;
    for v_member in
        select m.key, m.value, howdah._pointer(p_at, m.key) as at, p_schema -> 'properties' -> m.key as own,
            p_schema -> 'dependentSchemas' -> m.key as dependent
        from jsonb_each(p_value) m
    loop
        v_fault := coalesce(
            case when v_member.own is not null
                then howdah._contract_fault(v_member.own, v_member.value, p_root, v_member.at, p_depth + 1, p_until)
                when p_schema -> 'additionalProperties' = 'false'
                then format('%s is no member that the contract has (additionalProperties)', v_member.at)
                when p_schema ? 'additionalProperties' then howdah._contract_fault(p_schema -> 'additionalProperties',
                    v_member.value, p_root, v_member.at, p_depth + 1, p_until) end,
            case when p_schema ? 'propertyNames' then howdah._contract_fault(p_schema -> 'propertyNames',
                to_jsonb(v_member.key), p_root, v_member.at, p_depth + 1, p_until) end,
            case when v_member.dependent is not null then howdah._contract_fault(v_member.dependent, p_value, p_root,
                p_at, p_depth + 1, p_until) end);
        exit when v_fault is not null;
    end loop;
    return v_fault;
end
$$;
