-- howdah._ticket_key(p_id, p_shift, p_block, p_mask): the advisory lock of a block of tickets.
--
-- Returns  bigint, positive: a mark, the destination's number (0: the whole engine), how many tickets a block has (2 to the power of p_shift), the
--          block; all of it hidden by a secret of the destination, p_mask.
-- Role     internal
create or replace function howdah._ticket_key(p_id integer, p_shift integer, p_block bigint, p_mask bigint) returns bigint
language sql immutable
as $$ select ((1::bigint << 62) | (p_id::bigint << 42) | (p_shift::bigint << 36) | (p_block & 68719476735)) # p_mask $$;

-- howdah._ticket_mask(p_id): what hides the keys of a destination's tickets, and what shows them again.
--
-- Returns  bigint, positive.
-- Role     internal
--
-- A cheap hash, for each send to a limited queue needs it. Who knows a key can tell the secret from it, so it is one of the tickets' own.
create or replace function howdah._ticket_mask(p_id integer) returns bigint
language sql volatile
as $$ select hashint8extended(p_id, pg_sequence_last_value('howdah.ticket_secret'::regclass)) & 9223372036854775807 $$;

-- howdah._reserve(p_id, p_room, p_tickets, p_messages, p_bytes): draw tickets for messages about to be sent, if the last count left enough of them.
--
-- Returns  true: they may be sent. False: it must be counted, see howdah._take.
-- Role     internal
--
-- A ticket stands for one message, of as many bytes as 2 to the power that p_room says. p_room holds the last ticket that may be used, times 2^20;
-- how often it was counted, times 2^12; how many tickets one lock covers and how many bytes a ticket, as powers of 2. The lock is shared and held to
-- the transaction's end: by it a count knows what it cannot see. If anybody counted since p_room was read, that lock came too late. The tickets of the
-- last 64 such sends are given out by howdah._take only: so those who come too late here do not crowd those who count.
create or replace function howdah._reserve(p_id integer, p_room regclass, p_tickets regclass, p_messages bigint, p_bytes bigint) returns boolean
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
        perform howdah._hold(v_id, v_shift, v_next, v_next + v_needed - 1);
        select max(nextval(p_tickets)) into v_last from generate_series(1, v_needed);
    end if;
    v_held := (v_next + v_needed - 1) >> v_shift;
    if v_last >> v_shift > v_held then
        perform howdah._hold(v_id, v_shift, (v_held + 1) << v_shift, v_last);
    end if;
    return v_last <= v_room >> 20 and pg_sequence_last_value(p_room) = v_room;
end
$$;

-- howdah._hold(p_id, p_shift, p_first, p_last): take the locks of tickets, shared and to the end of the transaction.
--
-- Role     internal
create or replace function howdah._hold(p_id integer, p_shift integer, p_first bigint, p_last bigint) returns void
language plpgsql volatile
as $$
declare
    v_mask constant bigint := howdah._ticket_mask(p_id);
begin
    perform pg_advisory_xact_lock_shared(howdah._ticket_key(p_id, p_shift, b.block, v_mask)) from generate_series(p_first >> p_shift, p_last >> p_shift) b(block);
end
$$;

-- howdah._tickets_out(p_id, p_last): how many messages other open transactions may have sent at most, by the locks of their tickets.
--
-- Returns  bigint; whole blocks, up to the ticket p_last.
-- Role     internal
create or replace function howdah._tickets_out(p_id integer, p_last bigint) returns bigint
language sql volatile
as $$
    select coalesce(sum(greatest(least(1::bigint << k.shift, p_last - (k.block << k.shift) + 1), 0)), 0)::bigint
    from (
        select distinct ((o.key >> 36) & 63)::integer as shift, o.key & 68719476735 as block
        from (select ((l.classid::bigint << 32) | l.objid::bigint) # k.mask as key
              from pg_locks l cross join (select howdah._ticket_mask(p_id) as mask offset 0) k
              where l.locktype = 'advisory' and l.objsubid = 1 and l.mode = 'ShareLock' and l.granted and l.pid is distinct from pg_backend_pid()
                and l.database = (select d.oid from pg_database d where d.datname = current_database())) o
        where o.key >> 42 = (1::bigint << 20) | p_id
    ) k
$$;
