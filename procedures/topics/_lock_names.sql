-- howdah._lock_names(): create topics, and what finds topics by their names, one after the other.
--
-- Role     internal
--
-- Else a wildcard and a topic that it matches, made at the same time, would not know of each other.
create or replace function howdah._lock_names() returns void
language sql volatile
as $$ select howdah._latch('names') $$;
