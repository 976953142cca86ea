-- howdah._reserve(p_id, p_room, p_tickets, p_messages, p_bytes): draw tickets for messages about to be sent, if the
-- last count left enough.
--
-- Returns  true if they may be sent; false if somebody must count: see howdah._reserve_after_count.
-- Role     internal
--
-- A ticket stands for one message of at most 2^n bytes, with n from p_room. p_room holds the last ticket that may be
-- used, times 2^20, and the number of counts, times 2^12. It also holds, as powers of 2, how many tickets one lock
-- covers and how many bytes a ticket stands for.
--
-- The lock is shared and held until the transaction ends. It tells a count of messages that the count cannot see. If
-- another session has counted since p_room was read, the lock came too late.
--
-- Only howdah._reserve_after_count gives out the tickets of the last 64 such sends. So senders that come too late here
-- do not crowd those that count.
create or replace function howdah._reserve(
    p_id integer, p_room regclass, p_tickets regclass, p_messages bigint, p_bytes bigint
) returns boolean
language plpgsql volatile cost 1000
as $$
declare
    v_id constant integer := case when p_tickets = 'howdah.system_tickets'::regclass then 0 else p_id end;
    v_room constant bigint := pg_sequence_last_value(p_room);
    v_shift constant integer := (v_room >> 6) & 63;
    v_needed constant bigint := greatest(p_messages, ((p_bytes - 1) >> (v_room & 63)::integer) + 1);
    v_next bigint;
    v_last bigint;
    v_held bigint;
    v_mask bigint;
begin
    if v_room is null or v_room >> 61 > 0 then
        return false;
    end if;
    v_next := coalesce(pg_sequence_last_value(p_tickets), 0) + 1;
    if (v_room >> 20) - v_next < v_needed * 65 then
        return false;
    end if;
    if v_needed = 1 then
        v_mask := howdah._ticket_mask(v_id);  -- cheaper by itself than within the next expression
        perform pg_advisory_xact_lock_shared(howdah._ticket_key(v_id, v_shift, v_next >> v_shift, v_mask));
        v_last := nextval(p_tickets);
    else
        perform howdah._hold_tickets(v_id, v_shift, v_next, v_next + v_needed - 1);
        select max(nextval(p_tickets)) into v_last from generate_series(1, v_needed);
    end if;
    v_held := (v_next + v_needed - 1) >> v_shift;
    if v_last >> v_shift > v_held then
        perform howdah._hold_tickets(v_id, v_shift, (v_held + 1) << v_shift, v_last);
    end if;
    return v_last <= v_room >> 20 and pg_sequence_last_value(p_room) = v_room;
end
$$;
