-- howdah._is_gone(p_sender, p_own_session, p_last_sent_at): whether a sender's connection is known to have ended.
--
-- Returns  boolean.
-- Role     internal
--
-- A database session is gone once nobody holds its lock. A named connection is gone when five seconds have passed since
-- its last message and its last howdah.keep_connection(), and none of its transactions is open.
--
-- The caller's own session lives, so its key is not tried. A lock here, beside the session's own lock, would forbid
-- PREPARE TRANSACTION.
create or replace function howdah._is_gone(
    p_sender bigint, p_own_session boolean, p_last_sent_at timestamptz
) returns boolean
language plpgsql volatile
as $$
declare
    v_key constant bigint := p_sender;
    v_since constant timestamptz := howdah.now() - interval '5 seconds';
begin
    if p_own_session and p_sender = howdah._own_sender() then
        return false;
    elsif p_own_session and not pg_try_advisory_xact_lock_shared(v_key) then
        return false;
    elsif not p_own_session and (p_last_sent_at > v_since or exists (
        select from howdah.sender_signs s where s.sender = p_sender and s.seen_at > v_since)) then
        return false;
    end if;
    -- The lock of the caller's own session is no obstacle to it.
    return not exists (
        select from pg_locks l
        where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
          and ((l.classid::bigint << 32) | l.objid::bigint) = v_key
          and (not p_own_session or l.mode = 'ExclusiveLock'));
end
$$;
