-- howdah._refuse_name(p_name): say that there is no object of a name.
--
-- Raises   HD047 always.
-- Role     internal
create or replace function howdah._refuse_name(p_name text) returns void
language plpgsql volatile
as $$
begin
    raise exception using errcode = 'HD047',
        message = format('there is no object %s', coalesce(quote_literal(left(p_name, 250)), 'NULL')),
        hint = 'See howdah.list_objects().';
end
$$;
