-- howdah._reserve_and_wake(p_id, p_room, p_tickets, p_messages, …): draw tickets for messages about to be sent, if the
-- last count left enough; then wake whoever waits.
--
-- Returns  true if they may be sent; false if somebody must count: see howdah._reserve_after_count. Then nobody is
--          woken.
-- Role     internal
--
-- A ticket stands for one message of at most 2^n bytes, with n from p_room. p_room holds the last ticket that may be
-- used, times 2^20, and the number of counts, times 2^12. It also holds, as powers of 2, how many tickets one lock
-- covers and how many bytes a ticket stands for.
--
-- The lock is shared and held until the transaction ends. It tells a count of messages that the count cannot see. If
-- another session has counted since p_room was read, the lock came too late.
--
-- p_room: NULL, if no limit applies. p_waiting: as for howdah._wake; it and p_notify may be NULL, and then nobody is
-- woken.
--
-- One expression takes the lock of one message and draws its ticket. A PERFORM is a statement, and would cost 25,000
-- instructions more.
--
-- Only howdah._reserve_after_count gives out the tickets of the last 64 such sends. So senders that come too late here
-- do not crowd those that count.
create or replace function howdah._reserve_and_wake(
    p_id integer, p_room regclass, p_tickets regclass, p_messages bigint, p_bytes bigint,
    p_waiting regclass default null, p_notify boolean default null
) returns boolean
language plpgsql volatile cost 1000
as $$
declare
    v_id constant integer := case when p_tickets = 'howdah.system_tickets'::regclass then 0 else p_id end;
    v_room constant bigint := pg_sequence_last_value(p_room);
    v_next constant bigint := coalesce(pg_sequence_last_value(p_tickets), 0) + 1;
    v_shift constant integer := (v_room >> 6) & 63;
    v_needed bigint;
    v_last bigint;
begin
    if p_messages = 1 and (p_bytes - 1) >> (v_room & 63)::integer <= 0 and v_room < 2305843009213693952
       and (v_room >> 20) - v_next >= 65 then
        v_last := case when pg_advisory_xact_lock_shared(howdah._ticket_key(v_id, v_shift, v_next >> v_shift,
            howdah._ticket_mask(v_id))) is not null then nextval(p_tickets) end;
        if v_last >> v_shift = v_next >> v_shift and v_last <= v_room >> 20 and pg_sequence_last_value(p_room) = v_room
           and (p_notify and pg_sequence_last_value(p_waiting) is not null) is not true then
            return true;
        end if;
        v_needed := 1;
    elsif p_room is not null then
        v_needed := greatest(p_messages, ((p_bytes - 1) >> (v_room & 63)::integer) + 1);
        if v_room is null or v_room >> 61 > 0 or (v_room >> 20) - v_next < v_needed * 65 then
            return false;
        end if;
        perform howdah._hold_tickets(v_id, v_shift, v_next, v_next + v_needed - 1);
        select max(nextval(p_tickets)) into v_last from generate_series(1, v_needed);
    end if;
    if v_last >> v_shift > (v_next + v_needed - 1) >> v_shift then
        perform howdah._hold_tickets(v_id, v_shift, (((v_next + v_needed - 1) >> v_shift) + 1) << v_shift, v_last);
    end if;
    if p_room is not null and (v_last <= v_room >> 20 and pg_sequence_last_value(p_room) = v_room) is not true then
        return false;
    end if;
    if p_notify and pg_sequence_last_value(p_waiting) is not null then
        perform howdah._wake(p_id, p_waiting);
    end if;
    return true;
end
$$;
