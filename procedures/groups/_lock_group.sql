-- howdah._lock_group(p_destination_id, p_group): lock a message group until the transaction ends.
--
-- Returns  false if another transaction has it.
-- Role     internal
create or replace function howdah._lock_group(p_destination_id integer, p_group text) returns boolean
language sql volatile
as $$ select pg_try_advisory_xact_lock(howdah._lock_key('group', p_destination_id || ':' || p_group)) $$;
