-- howdah._refuse_null(p_name, p_value): refuse an option that is NULL where either value could do harm.
--
-- Raises   HD005 it is NULL.
-- Role     internal
create or replace function howdah._refuse_null(p_name text, p_value boolean) returns void
language plpgsql stable
as $$
begin
    if p_value is null then
        raise exception using errcode = 'HD005', message = p_name || ' cannot be NULL', hint = 'Pass true or false.';
    end if;
end
$$;
