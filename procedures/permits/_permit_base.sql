-- howdah._permit_base(p_id, p_key): the number before that of the lock of a limit's first permit.
--
-- Returns  bigint: permit 1 has the next number, and so on up to 1023.
-- Role     internal
create or replace function howdah._permit_base(p_id integer, p_key uuid) returns bigint
language sql volatile
as $$ select howdah._lock_key('permit', p_id || ':' || p_key) & ~1023::bigint $$;
