-- howdah._check_function(p_name, p_kind): refuse a function that cannot be a poison procedure or a transformation, or
-- that the caller may not set.
--
-- Returns  the role that owns it (text).
-- Raises   HD004 it is not suitable; HD010 the caller is no administrator of Howdah, or may not call it.
-- Role     internal
create or replace function howdah._check_function(p_name text, p_kind text) returns text
language plpgsql volatile
as $$
declare
    v_fault text := howdah._function_fault(p_name, null, p_kind);
    v_shape constant record := howdah._function_shape(p_kind);
    v_function record;
begin
    if not howdah._has_role((select e.admin_role from howdah.engine e)) then
        raise exception using errcode = 'HD010', message = format('role %s may not set a %s',
            quote_ident(howdah._caller()), p_kind),
            hint = 'It runs in everybody''s receive: ask an administrator of Howdah.';
    elsif (p_name ~ '^[^.]{1,63}[.][^.]{1,63}$') is not true or v_fault is not null then
        raise exception using errcode = 'HD004', message = format('%s cannot be %s: %s',
            case p_kind when 'transformation' then 'a transformation' else 'option poison_procedure' end,
            coalesce(quote_literal(left(p_name, 150)), 'NULL'), coalesce(v_fault, 'it is not SCHEMA.FUNCTION')),
            hint = format(
                'It is SCHEMA.FUNCTION, a function %s returning %s, SECURITY DEFINER, which belongs to an ordinary '
                'role and which the role howdah_nobody may EXECUTE.', v_shape.signature,
                case p_kind when 'transformation' then 'howdah.message' else 'boolean' end);
    end if;
    select p.oid, p.pronamespace, pg_get_userbyid(p.proowner)::text as owner into v_function
    from pg_proc p where p.oid = split_part(howdah._function_version(p_name, p_kind), ' ', 1)::oid;
    if not has_function_privilege(howdah._caller()::name, v_function.oid, 'EXECUTE')
       or not has_schema_privilege(howdah._caller()::name, v_function.pronamespace, 'USAGE') then
        raise exception using errcode = 'HD010', message = format('role %s may not call %s',
            quote_ident(howdah._caller()), p_name),
            hint = format('Whoever sets a %s must have the right to EXECUTE it.', p_kind);
    end if;
    return v_function.owner;
end
$$;
