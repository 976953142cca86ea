-- howdah.register_transformation(name, function): let bridges, links and subscriptions change messages by a function of
-- yours.
--
-- Returns  true if the transformation is new (boolean).
-- Raises   HD003 bad name; HD004 the function is not suitable; HD010 the caller may not call it; HD049 a transformation
--          of that name has another function; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- function is SCHEMA.FUNCTION. It takes a howdah.message and returns one. It is SECURITY DEFINER, and belongs to an
-- ordinary role, as a poison procedure does. docs/transformations.md says what it may change.
create or replace function howdah.register_transformation(name text, function text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_new howdah.transformations;
begin
    if (register_transformation.name ~ '^[A-Za-z0-9_.-]{1,100}$') is not true then
        raise exception using errcode = 'HD003', message = 'bad name of a transformation',
            hint = 'It has 1 to 100 characters out of A-Z a-z 0-9 . _ -';
    end if;
    v_new.name := register_transformation.name;
    v_new.function := register_transformation.function;
    v_new.function_owner := howdah._check_function(v_new.function, 'transformation');
    insert into howdah.transformations (name, function, function_owner, registered_at, registered_by)
    values (v_new.name, v_new.function, v_new.function_owner, howdah.now(), howdah._caller())
    on conflict on constraint pk_transformations do nothing;
    if found then
        perform howdah._record_change('transformation', v_new.name, 'created', null,
            howdah._properties('transformation', v_new.name));
        return true;
    elsif not exists (select from howdah.transformations t where t.name = v_new.name
            and t.function = v_new.function and t.function_owner = v_new.function_owner) then
        raise exception using errcode = 'HD049',
            message = format('the transformation %s has another function, or its owner changed',
                quote_literal(v_new.name)),
            hint = 'Choose another name, or drop it first with howdah.drop_transformation(name).';
    end if;
    return false;
end
$$;
