-- howdah._reserve_after_count(p_id, p_room, p_tickets, …): draw tickets for messages about to be sent, after counting
-- if needed.
--
-- Returns  verdict: taken; full; or open, which is full only if the messages of open transactions are committed.
--          over_messages and over_bytes: how far over the limit. level: how many of p_shares the stored messages have
--          reached; NULL if nobody counted.
-- Role     internal
--
-- One session counts at a time, under a lock that it releases at once and not at the end of its transaction. p_shares
-- are percentages of the limits, ascending. If the last of several is reached, it is full. Tickets end short of the
-- next share, at most 50 before it, so that whoever reaches it notices.
create or replace function howdah._reserve_after_count(
    p_id integer, p_room regclass, p_tickets regclass, p_message_limit bigint, p_byte_limit bigint, p_shares integer[],
    p_messages bigint, p_bytes bigint, p_look_anew boolean, out verdict text, out over_messages bigint,
    out over_bytes bigint, out level integer
) returns record
language plpgsql volatile
as $$
declare
    v_key bigint;
    v_room constant bigint := coalesce(pg_sequence_last_value(p_room), 0);
begin
    if howdah._reserve_and_wake(p_id, p_room, p_tickets, p_messages, p_bytes) then
        verdict := 'taken';
        return;
    elsif v_room >> 61 > 0 and not p_look_anew and (v_room >> 20) & 2199023255551 > howdah._pace(clock_timestamp()) then
        verdict := 'full';  -- a long count has just found it full
        return;
    end if;
    v_key := howdah._ticket_key(p_id, 63, 0, howdah._ticket_mask(p_id));
    begin
        perform pg_advisory_lock(v_key);
        select r.verdict, r.over_messages, r.over_bytes, r.level into verdict, over_messages, over_bytes, level
        from howdah._recount(p_id, p_room, p_tickets, p_message_limit, p_byte_limit, p_shares, p_messages, p_bytes) r;
        perform pg_advisory_unlock(v_key);
    exception when query_canceled or others then
        perform pg_advisory_unlock(v_key) from pg_locks l
        where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.objsubid = 1 and l.granted
          and l.mode = 'ExclusiveLock'
          and (l.classid::bigint << 32) | l.objid::bigint = v_key;
        raise;
    end;
end
$$;
