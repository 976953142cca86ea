-- howdah._call_transformation(p_not, p_schema, p_function, p_message): call a transformation without any rights.
--
-- Returns  what it returns; an error if it would run as p_not or with its rights. p_not NULL: whoever it runs as, as in
--          one-role mode.
-- Role     internal
--
-- It belongs to the role without rights, as howdah._call_poison_procedure, and for the same reasons. It names no type
-- of Howdah's in its text, because that role may not use the schema.
create or replace function howdah._call_transformation(
    p_not name, p_schema text, p_function text, p_message howdah.message, out made howdah.message
) returns howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if p_not is not null and pg_catalog.pg_has_role(current_user, p_not, 'MEMBER') then
        raise exception 'it would run with the rights of %', p_not;
    end if;
    execute pg_catalog.format('select (f.t).* from (select %I.%I($1) as t offset 0) f', p_schema, p_function)
    into made using p_message;
end
$$;
