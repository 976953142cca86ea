-- howdah._refs_in_place(p_schema): the references that a schema applies to the same value as itself.
--
-- Returns  text, each as in $ref.
-- Role     internal
create or replace function howdah._refs_in_place(p_schema jsonb) returns setof text
language sql immutable
as $$
    with recursive place as (
        select p_schema as schema
        union all
        select n.schema from place p cross join lateral (
            select p.schema -> k.key from unnest(array['not', 'if', 'then', 'else']) k(key)
            where p.schema ? k.key
            union all
            select e.value from unnest(array['allOf', 'anyOf', 'oneOf']) k(key)
            cross join jsonb_array_elements(case when jsonb_typeof(p.schema -> k.key) = 'array'
                then p.schema -> k.key else '[]' end) e
            union all
            select e.value from jsonb_each(case when jsonb_typeof(p.schema -> 'dependentSchemas') = 'object'
                then p.schema -> 'dependentSchemas' else '{}' end) e
        ) n(schema)
        where jsonb_typeof(p.schema) = 'object'
    )
    select p.schema ->> '$ref' from place p where jsonb_typeof(p.schema) = 'object' and p.schema ? '$ref'
$$;
