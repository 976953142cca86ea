-- howdah._latch(p_name): take one of the engine's own locks until the transaction ends, and wait for whoever has it.
--
-- Role     internal
--
-- A row's lock: those who may not read the table cannot take it, nor can they see how.
create or replace function howdah._latch(p_name text) returns void
language sql volatile
as $$ select from howdah.latches l where l.name = p_name for update $$;
