-- howdah._poison_procedure_version(p_name): the version of a poison procedure in the catalog.
--
-- Returns  text; NULL if there is none.
-- Role     internal
create or replace function howdah._poison_procedure_version(p_name text) returns text
language sql volatile
as $$
    select concat_ws(' ', p.oid, p.xmin, p.ctid, n.oid, n.xmin, n.ctid)
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = split_part(p_name, '.', 1) and p.proname = split_part(p_name, '.', 2) and p.pronargs = 2
      and p.proargtypes[0] = 'howdah.message'::regtype and p.proargtypes[1] = 'jsonb'::regtype
$$;
