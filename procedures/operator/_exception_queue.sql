-- howdah._exception_queue(p_name): the exception destination meant by a name; NULL means the engine's own.
--
-- Returns  its name (text).
-- Role     internal
create or replace function howdah._exception_queue(p_name text) returns text
language sql stable
as $$ select coalesce(p_name, (select '_SYSTEM.Exception.Destination.' || e.name from howdah.engine e)) $$;
