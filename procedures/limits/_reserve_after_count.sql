-- howdah._reserve_after_count(p_id, p_room, p_tickets, …): draw tickets for messages about to be sent, after counting
-- if need be.
--
-- Returns  verdict: taken; full; or open, which is full only if what open transactions sent is committed. over_messages
--          and over_bytes: by how much. level: how many of p_shares what lies there then has reached; NULL: it was not
--          counted.
-- Role     internal
--
-- One at a time counts, under a lock that it gives back at once and not at its transaction's end. p_shares are percents
-- of the limits, ascending. Where the last of several is reached it is full; tickets are left until short of the next
-- one, before the last 50 at most, so that who reaches it notices.
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
    if howdah._reserve(p_id, p_room, p_tickets, p_messages, p_bytes) then
        verdict := 'taken';
        return;
    elsif v_room >> 61 > 0 and not p_look_anew and (v_room >> 20) & 2199023255551 > howdah._pace(clock_timestamp()) then
        verdict := 'full';  -- a long count found it so just now
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
