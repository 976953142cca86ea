-- howdah._claimed_client_id(): the client id that this session has claimed.
--
-- Returns  its hash (integer); NULL if it has claimed none.
-- Role     internal
--
-- The lock itself tells: it outlives a rollback, and a setting does not.
create or replace function howdah._claimed_client_id() returns integer
language sql volatile
as $$
    select l.objid::bigint::bit(32)::integer from pg_locks l
    where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.classid = 1213154386 and l.objsubid = 2
$$;
