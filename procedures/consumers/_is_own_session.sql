-- howdah._is_own_session(p_consumer): whether a consumer belongs to this session, whose own locks do not block it.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_own_session(p_consumer integer) returns boolean
language sql volatile
as $$
    select exists (select from pg_locks l
                   cross join (values (howdah._lock_key('consumer', p_consumer::text)),
                       (howdah._lock_key('consumer at work', p_consumer::text))) k(key)
                   where l.locktype = 'advisory' and (l.classid::bigint << 32 | l.objid::bigint) = k.key
                     and l.objsubid = 1
                     and l.pid = pg_backend_pid() and l.mode = 'ShareLock' and l.granted)
$$;
