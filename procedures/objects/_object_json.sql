-- howdah._object_json(p_object): an administered object as the record of changes and an export have it.
--
-- Role     internal
create or replace function howdah._object_json(p_object howdah.objects) returns jsonb
language sql immutable
as $$
    select case when p_object.name is not null then jsonb_build_object('name', p_object.name, 'kind', p_object.kind,
        'attributes', p_object.attributes, 'read_only', p_object.read_only) end
$$;
