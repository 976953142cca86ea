-- howdah._check_poison_procedure(p_name): refuse a function that cannot be a poison procedure, or that the caller may
-- not set.
--
-- Returns  the role that owns it (text).
-- Raises   HD004 it is not suitable; HD010 the caller is no administrator of Howdah, or may not call it.
-- Role     internal
create or replace function howdah._check_poison_procedure(p_name text) returns text
language plpgsql volatile
as $$
declare
    v_fault text := howdah._poison_procedure_fault(p_name, null);
    v_function record;
begin
    if not howdah._has_role((select e.admin_role from howdah.engine e)) then
        raise exception using errcode = 'HD010', message = format('role %s may not set a poison procedure',
            quote_ident(howdah._caller())),
            hint = 'It runs in everybody''s receive: ask an administrator of Howdah.';
    elsif p_name !~ '^[^.]{1,63}[.][^.]{1,63}$' or v_fault is not null then
        raise exception using errcode = 'HD004', message = format('option poison_procedure cannot be %s: %s',
            quote_literal(left(p_name, 150)),
                coalesce(v_fault, 'it is not SCHEMA.FUNCTION')),
            hint =
                'It is SCHEMA.FUNCTION, a function (howdah.message, jsonb) returning boolean, SECURITY DEFINER, which '
                'belongs to an ordinary role '
                'and which the role howdah_nobody may EXECUTE.';
    end if;
    select p.oid, p.pronamespace, pg_get_userbyid(p.proowner)::text as owner into v_function
    from pg_proc p where p.oid = split_part(howdah._poison_procedure_version(p_name), ' ', 1)::oid;
    if not has_function_privilege(howdah._caller()::name, v_function.oid, 'EXECUTE')
       or not has_schema_privilege(howdah._caller()::name, v_function.pronamespace, 'USAGE') then
        raise exception using errcode = 'HD010', message = format('role %s may not call %s',
            quote_ident(howdah._caller()), p_name),
            hint = 'Whoever sets a poison procedure must have the right to EXECUTE it.';
    end if;
    return v_function.owner;
end
$$;
