-- howdah._share_latch(p_name): share one of the engine's own locks until the transaction ends, and wait for an
-- exclusive holder.
--
-- Role     internal
create or replace function howdah._share_latch(p_name text) returns void
language sql volatile
as $$ select from howdah.latches l where l.name = p_name for share $$;
