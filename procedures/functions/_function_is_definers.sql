-- howdah._function_is_definers(p_name, p_oid, p_kind): whether the version of a function that this session would call
-- is SECURITY DEFINER.
--
-- Returns  boolean.
-- Role     internal
--
-- A session calls its cached version, which may be older than the catalog's. It learns of changes when it takes a lock
-- that it does not have yet. In a transaction that received before, it has them all. pg_get_functiondef and
-- to_regprocedure show the cached version.
create or replace function howdah._function_is_definers(p_name text, p_oid oid, p_kind text) returns boolean
language sql volatile
as $$
    select to_regprocedure(d.name || d.signature) = p_oid
        and starts_with(d.definition, d.head)
        and substr(d.definition, length(d.head) + 1)
            ~ E'^ LANGUAGE [^ \n]+\n( IMMUTABLE| STABLE)?( PARALLEL (SAFE|RESTRICTED))?( STRICT)? SECURITY DEFINER'
    from (
        select n.name, s.signature, pg_get_functiondef(p_oid) as definition,
            format(E'CREATE OR REPLACE FUNCTION %s(%s)\n RETURNS %s\n', n.name, pg_get_function_arguments(p_oid),
                s.returns) as head
        from (select format('%I.%I', split_part(p_name, '.', 1), split_part(p_name, '.', 2)) as name) n
        cross join howdah._function_shape(p_kind) s
    ) d
$$;
