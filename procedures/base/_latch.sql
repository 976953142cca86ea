-- howdah._latch(p_name): take one of the engine's own locks until the transaction ends, and wait for its holder.
--
-- Role     internal
--
-- It is a row lock. Roles that may not read the table can neither take it nor see it.
create or replace function howdah._latch(p_name text) returns void
language sql volatile
as $$ select from howdah.latches l where l.name = p_name for update $$;
