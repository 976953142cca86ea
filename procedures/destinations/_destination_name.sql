-- howdah._destination_name(p_id): the name of a destination.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._destination_name(p_id integer) returns text
language sql stable
as $$ select d.name from howdah.destinations d where d.id = p_id $$;
