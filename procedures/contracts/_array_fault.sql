-- howdah._array_fault(p_schema, p_value, p_root, p_at, p_depth, p_until): why an array does not keep to the keywords
-- for arrays.
--
-- Returns  text that begins with a JSON Pointer; NULL if it does.
-- Role     internal
create or replace function howdah._array_fault(
    p_schema jsonb, p_value jsonb, p_root jsonb, p_at text, p_depth integer, p_until timestamptz
) returns text
language plpgsql volatile
as $$
declare
    v_count constant integer := jsonb_array_length(p_value);
    v_first constant integer := coalesce(jsonb_array_length(p_schema -> 'prefixItems'), 0);
    v_fault text;
    v_item record;
    v_found integer := 0;
begin
    v_fault := p_at || case
        when v_count < (p_schema ->> 'minItems')::numeric
            then format(' has fewer than %s items (minItems)', p_schema ->> 'minItems')
        when v_count > (p_schema ->> 'maxItems')::numeric
            then format(' has more than %s items (maxItems)', p_schema ->> 'maxItems')
        when (p_schema ->> 'uniqueItems')::boolean and (select count(distinct i.value) < v_count
            from jsonb_array_elements(p_value) i) then ' has an item twice (uniqueItems)' end;
    if v_fault is not null then
        return v_fault;
    end if;
    for v_item in select i.value, (i.n - 1)::integer as n from jsonb_array_elements(p_value) with ordinality i(value, n)
    loop
        v_fault := case
            when v_item.n < v_first then howdah._contract_fault(p_schema -> 'prefixItems' -> v_item.n, v_item.value,
                p_root, howdah._pointer(p_at, v_item.n::text), p_depth + 1, p_until)
            when p_schema ? 'items' then howdah._contract_fault(p_schema -> 'items', v_item.value, p_root,
                howdah._pointer(p_at, v_item.n::text), p_depth + 1, p_until) end;
        if v_fault is not null then
            return v_fault;
        end if;
        if p_schema ? 'contains' and howdah._contract_fault(p_schema -> 'contains', v_item.value, p_root, p_at,
                p_depth + 1, p_until) is null then
            v_found := v_found + 1;
        end if;
    end loop;
    return p_at || case
        when not p_schema ? 'contains' then null
        when v_found < coalesce((p_schema ->> 'minContains')::numeric, 1)
            then format(' has fewer than %s of the items that it must have (contains)',
                coalesce(p_schema ->> 'minContains', '1'))
        when v_found > (p_schema ->> 'maxContains')::numeric
            then format(' has more than %s of these items (maxContains)', p_schema ->> 'maxContains') end;
end
$$;
