-- howdah._log_viewer(): whether the caller sees the whole log: an administrator or an auditor does.
--
-- Returns  boolean.
-- Raises   HD010 called from a maintenance command.
-- Role     internal
create or replace function howdah._log_viewer() returns boolean
language sql volatile
as $$ select howdah._has_role(e.admin_role) or howdah._has_role(e.auditor_role) from howdah.engine e $$;
