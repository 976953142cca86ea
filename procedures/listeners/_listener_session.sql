-- howdah._listener_session(p_listener_id, p_max_sessions): use one of a listener's sessions until the transaction ends.
--
-- Returns  its number (integer); NULL if all are at work.
-- Role     internal
--
-- It takes advisory locks, which the server releases when a session ends in any way. Each backend tries a different one
-- first.
create or replace function howdah._listener_session(p_listener_id integer, p_max_sessions integer) returns integer
language sql volatile
as $$
    select s.session
    from (select (pg_backend_pid() + n) % p_max_sessions as session from generate_series(0, p_max_sessions - 1) n) s
    where pg_try_advisory_xact_lock(howdah._lock_key('listener', p_listener_id || ':' || s.session))
    limit 1
$$;
