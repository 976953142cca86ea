-- howdah._redact(p_value, p_parts): a JSON value with what lies at a path replaced.
--
-- Returns  jsonb. The replacement is the string [redacted]. Values that the path does not reach stay as they are.
-- Role     internal
create or replace function howdah._redact(p_value jsonb, p_parts text[]) returns jsonb
language plpgsql immutable
as $$
begin
    if cardinality(p_parts) = 0 then
        return '"[redacted]"';
    elsif jsonb_typeof(p_value) = 'object' then
        return (
            select coalesce(jsonb_object_agg(e.key, case when p_parts[1] in ('*', e.key)
                then howdah._redact(e.value, p_parts[2:]) else e.value end), '{}')
            from jsonb_each(p_value) e);
    elsif jsonb_typeof(p_value) = 'array' then
        return (
            select coalesce(jsonb_agg(case when p_parts[1] in ('*', (e.n - 1)::text)
                then howdah._redact(e.value, p_parts[2:]) else e.value end order by e.n), '[]')
            from jsonb_array_elements(p_value) with ordinality e(value, n));
    end if;
    return p_value;
end
$$;
