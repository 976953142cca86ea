-- howdah._transformation(p_name): a registered transformation that something is to use from now on.
--
-- Returns  its name (text); NULL for a NULL or empty name.
-- Raises   HD005 there is no such transformation.
-- Role     internal
--
-- The lock keeps howdah.drop_transformation away until the caller's transaction ends.
create or replace function howdah._transformation(p_name text) returns text
language plpgsql volatile
as $$
begin
    if nullif(p_name, '') is null then
        return null;
    end if;
    perform from howdah.transformations t where t.name = p_name for key share;
    if not found then
        raise exception using errcode = 'HD005',
            message = format('there is no transformation %s', quote_literal(left(p_name, 250))),
            hint = 'Register its function with howdah.register_transformation(name, function).';
    end if;
    return p_name;
end
$$;
