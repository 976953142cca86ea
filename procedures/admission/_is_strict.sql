-- howdah._is_strict(p_destination_id): whether a queue is of strict order.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_strict(p_destination_id integer) returns boolean
language sql stable
as $$ select d.strict_order from howdah.destinations d where d.id = p_destination_id $$;
