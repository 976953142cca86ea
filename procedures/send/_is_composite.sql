-- howdah._is_composite(p_name): whether a name lists several destinations or states the kind of one: A,B,topic://C.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_composite(p_name text) returns boolean
language sql immutable
as $$ select strpos(p_name, ',') > 0 or strpos(p_name, '://') > 0 $$;
