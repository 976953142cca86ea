-- howdah._function_fault(p_name, p_owner, p_kind): why a function cannot be a poison procedure or a transformation.
--
-- Returns  text; NULL if it can. p_owner: the role that must own it; NULL: any suitable role.
-- Role     internal
--
-- Without USAGE of its schema, Howdah could not even ask for its definition.
--
-- A function with its invoker's rights would have those of the role that owns our calling function.
create or replace function howdah._function_fault(p_name text, p_owner text, p_kind text) returns text
language sql volatile
as $$
    select case
        when f.oid is null then 'there is no such function ' || t.signature
        when f.prokind <> 'f' or f.proretset
            or f.prorettype <> t.result then 'it is no function that returns ' || t.returns
        when not has_schema_privilege(c.proowner, f.pronamespace, 'USAGE')
            then format('role %s, as which it is called, has no USAGE of its schema', pg_get_userbyid(c.proowner))
        when not f.prosecdef or not howdah._function_is_definers(p_name,
            f.oid, p_kind) then 'it is not SECURITY DEFINER'
        when f.rolsuper then format('it belongs to %s, a superuser', f.rolname)
        when pg_has_role(f.proowner, h.nspowner,
            'MEMBER') then format('it belongs to %s, who may act as Howdah''s owner', f.rolname)
        when p_owner <> f.rolname then format('it belongs to %s, not to %s as when it was set', f.rolname, p_owner)
        when not has_function_privilege(c.proowner, f.oid, 'EXECUTE')
            then format('role %s, as which it is called, may not EXECUTE it', pg_get_userbyid(c.proowner))
    end
    from howdah._function_shape(p_kind) t
    join pg_namespace h on h.nspname = 'howdah'
    left join pg_proc c on c.pronamespace = h.oid and c.proname = t.caller
    left join (
        select p.oid, p.prokind, p.proretset, p.prorettype, p.prosecdef, p.proowner, p.pronamespace, r.rolsuper,
        r.rolname
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_roles r on r.oid = p.proowner
        where p.oid = split_part(howdah._function_version(p_name, p_kind), ' ', 1)::oid
    ) f on true
$$;
