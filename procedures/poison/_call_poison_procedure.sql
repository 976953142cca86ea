-- howdah._call_poison_procedure(p_not, p_schema, p_function, p_message, p_incidents): call a poison procedure without
-- any rights.
--
-- Returns  what it returns; an error if it would run as p_not or with its rights. p_not NULL: whoever it runs as, as in
--          one-role mode.
-- Role     internal
--
-- It belongs to a role without rights. So a function with its invoker's rights, put there after the check, has none.
-- Such a function could alter this one, as its owner: take SECURITY DEFINER away, or set search_path. It cannot change
-- the text, which checks in the same call that it makes.
create or replace function howdah._call_poison_procedure(
    p_not name, p_schema text, p_function text, p_message howdah.message, p_incidents jsonb
) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_handled boolean;
begin
    if p_not is not null and pg_catalog.pg_has_role(current_user, p_not, 'MEMBER') then
        raise exception 'it would run with the rights of %', p_not;
    end if;
    execute pg_catalog.format('select %I.%I($1, $2)', p_schema, p_function) into v_handled using p_message, p_incidents;
    return v_handled;
end
$$;
