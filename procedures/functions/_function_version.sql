-- howdah._function_version(p_name, p_kind): the version of an application's function in the catalog.
--
-- Returns  text; NULL if there is none. It begins with the function's oid.
-- Role     internal
create or replace function howdah._function_version(p_name text, p_kind text) returns text
language sql volatile
as $$
    select concat_ws(' ', p.oid, p.xmin, p.ctid, n.oid, n.xmin, n.ctid)
    from howdah._function_shape(p_kind) s cross join (pg_proc p join pg_namespace n on n.oid = p.pronamespace)
    where n.nspname = split_part(p_name, '.', 1) and p.proname = split_part(p_name, '.', 2)
      and p.pronargs = cardinality(s.arguments) and p.proargtypes[0] = s.arguments[1]
      and (p.pronargs = 1 or p.proargtypes[1] = s.arguments[2])
$$;
