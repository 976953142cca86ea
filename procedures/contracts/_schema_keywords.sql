-- howdah._schema_keywords(): the keywords of JSON Schema (draft 2020-12) that a contract may use.
--
-- Returns  name, and value: what stands behind it. Schemas: schema, schemas (an array), members (an object of schemas),
--          ref, draft (this one), root (only at the top). Others: count, number, positive, boolean, types, list, names
--          (an array), lists (an object of arrays of names), any.
-- Role     internal
create or replace function howdah._schema_keywords() returns table (name text, value text)
language sql immutable
as $$
    values ('type', 'types'), ('enum', 'list'), ('const', 'any'),
        ('minimum', 'number'), ('maximum', 'number'), ('exclusiveMinimum', 'number'), ('exclusiveMaximum', 'number'),
        ('multipleOf', 'positive'), ('minLength', 'count'), ('maxLength', 'count'),
        ('items', 'schema'), ('prefixItems', 'schemas'), ('minItems', 'count'), ('maxItems', 'count'),
        ('uniqueItems', 'boolean'), ('contains', 'schema'), ('minContains', 'count'), ('maxContains', 'count'),
        ('properties', 'members'), ('required', 'names'), ('additionalProperties', 'schema'),
        ('propertyNames', 'schema'), ('minProperties', 'count'), ('maxProperties', 'count'),
        ('dependentRequired', 'lists'), ('dependentSchemas', 'members'),
        ('allOf', 'schemas'), ('anyOf', 'schemas'), ('oneOf', 'schemas'), ('not', 'schema'),
        ('if', 'schema'), ('then', 'schema'), ('else', 'schema'), ('$ref', 'ref'), ('$defs', 'members'),
        ('$schema', 'draft'), ('$id', 'root'), ('$comment', 'any'), ('title', 'any'), ('description', 'any'),
        ('default', 'any'), ('examples', 'any'), ('deprecated', 'any'), ('readOnly', 'any'), ('writeOnly', 'any')
$$;
