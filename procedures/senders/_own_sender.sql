-- howdah._own_sender(): the sender that the database session itself is.
--
-- Returns  the key of its lock (bigint); NULL if it has sent nothing that goes with its sender.
-- Role     internal
--
-- The setting howdah.sender remembers the key. A rollback resets the setting but not the lock, which then shows the
-- key. The last 24 bits of such keys are alike.
create or replace function howdah._own_sender() returns bigint
language plpgsql volatile
as $$
begin
    if current_setting('howdah.sender', true) ~ '^-[0-9]{1,18}$' then
        return current_setting('howdah.sender', true)::bigint;
    end if;
    return (
        select (l.classid::bigint << 32) | l.objid::bigint from pg_locks l
        where l.locktype = 'advisory' and l.objsubid = 1 and l.pid = pg_backend_pid() and l.granted
          and l.mode = 'ExclusiveLock' and ((l.classid::bigint << 32) | l.objid::bigint) < 0
          and l.objid::bigint & 16777215 = howdah._lock_key('sender', '') & 16777215
        limit 1);
end
$$;
