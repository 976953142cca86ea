-- howdah._lock_names(): take the lock under which topics are created, and found by their names, one after the other.
--
-- Role     internal
--
-- Without it, a wildcard and a matching topic created at the same time would not know of each other.
create or replace function howdah._lock_names() returns void
language sql volatile
as $$ select howdah._latch('names') $$;
