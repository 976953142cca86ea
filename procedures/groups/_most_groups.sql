-- howdah._most_groups(): the number of groups that a receive may take from. Each costs a lock in the server's table.
--
-- Returns  integer.
-- Role     internal
create or replace function howdah._most_groups() returns integer
language sql stable
as $$ select greatest(current_setting('max_locks_per_transaction')::integer, 16) $$;
