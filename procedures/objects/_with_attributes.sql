-- howdah._with_attributes(p_attributes, p_changes): attributes of an object after some of them were set.
--
-- Returns  jsonb. Attributes that are null in p_changes are taken away.
-- Raises   HD004 p_changes is no JSON object.
-- Role     internal
create or replace function howdah._with_attributes(p_attributes jsonb, p_changes jsonb) returns jsonb
language plpgsql immutable
as $$
begin
    if jsonb_typeof(p_changes) is distinct from 'object' then
        raise exception using errcode = 'HD004', message = 'attributes must be a JSON object',
            hint = 'For example {"priority": 7}; null takes an attribute away.';
    end if;
    return p_attributes - array(select g.key from jsonb_each(p_changes) g where g.value = 'null')
        || (select coalesce(jsonb_object_agg(g.key, g.value), '{}') from jsonb_each(p_changes) g
            where g.value <> 'null');
end
$$;
