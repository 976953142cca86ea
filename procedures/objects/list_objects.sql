-- howdah.list_objects(pattern): list the objects whose names match a pattern, by name.
--
-- Returns  one row per object.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- In pattern, * stands for any characters, such as cf/*. NULL: all.
create or replace function howdah.list_objects(pattern text default null) returns table (
    name text, kind text, attributes jsonb, read_only boolean, created_at timestamptz, created_by text,
    changed_at timestamptz
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select o.name, o.kind, o.attributes, o.read_only, o.created_at, o.created_by, o.changed_at
    from howdah.objects o
    where list_objects.pattern is null
       or o.name like replace(replace(replace(list_objects.pattern, E'\\', E'\\\\'), '_', E'\\_'), '*', '%')
    order by o.name
$$;
