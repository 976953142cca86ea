-- howdah._listener_limit(p_listener): how many failures in a row stop a listener.
--
-- Returns  integer, at least 1; NULL if failures never stop it.
-- Role     internal
create or replace function howdah._listener_limit(p_listener howdah.listeners) returns integer
language sql immutable
as $$ select case when p_listener.stop_on_failure then greatest(p_listener.sequential_failures, 1) end $$;
