-- howdah._log_severity(p_level): how severe a level is: 1 (ERROR) to 3 (INFO).
--
-- Returns  integer; NULL: there is no such level.
-- Role     internal
create or replace function howdah._log_severity(p_level text) returns integer
language sql immutable
as $$ select array_position(array['ERROR', 'WARNING', 'INFO'], p_level) $$;
