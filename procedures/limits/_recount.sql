-- howdah._recount(p_id, p_room, …): count, and set how many tickets are left; the caller holds the lock of
-- howdah._reserve_after_count.
--
-- Returns  as howdah._reserve_after_count.
-- Role     internal
--
-- The order matters. First, no more tickets are allowed. Then the drawn tickets and their holders are looked up. Then,
-- in a new snapshot, what is committed is counted. So each sent message is in one or the other.
--
-- A transaction that keeps its snapshot does not see what others committed since, and leaves the tickets as they are.
-- Messages that this transaction has taken out and not committed leave room for its own messages only.
--
-- A count of over 20,000 messages that found no room stays valid for twenty times as long as it took, at most 2 s.
create or replace function howdah._recount(
    p_id integer, p_room regclass, p_tickets regclass, p_message_limit bigint, p_byte_limit bigint, p_shares integer[],
    p_messages bigint, p_bytes bigint, out verdict text, out over_messages bigint, out over_bytes bigint,
    out level integer
) returns record
language plpgsql volatile
as $$
declare
    v_begun constant timestamptz := clock_timestamp();
    v_wrote constant boolean := pg_current_xact_id_if_assigned() is not null;  -- asked before setval assigns an id
    v_held_snapshot constant boolean := current_setting('transaction_isolation') in ('repeatable read', 'serializable');
    v_room bigint := coalesce(pg_sequence_last_value(p_room), 0);
    v_bits constant integer := case when p_byte_limit is null then 62
        else greatest(floor(log(2, p_byte_limit / 16384.0)), 0) end;
    v_shift constant integer := greatest(floor(log(2,
        least(coalesce(p_message_limit, 1099511627776), p_byte_limit >> v_bits) / 64.0)), 0);
    v_needed constant bigint := greatest(p_messages, ((p_bytes - 1) >> v_bits) + 1);
    v_settings bigint;
    v_issued bigint := coalesce(pg_sequence_last_value(p_tickets), 0);
    v_out bigint;
    v_messages bigint;
    v_bytes bigint;
    v_shares constant integer := cardinality(p_shares);
    v_bytes_out bigint;
    v_next integer;
    v_taken bigint;
    v_left bigint;
    v_bytes_left bigint;
begin
    if v_room >> 61 = 0 and (v_room & 4095) = (v_shift << 6 | v_bits) and (v_room >> 20) - v_issued >= v_needed
       and howdah._draw_tickets(p_id, p_tickets, v_shift, v_needed) <= v_room >> 20 then
        verdict := 'taken';
        return;
    end if;
    v_settings := ((((v_room >> 12) + 1) & 255) << 12) | (v_shift << 6) | v_bits;
    if not v_held_snapshot then
        perform setval(p_room, v_settings);
    end if;
    v_issued := coalesce(pg_sequence_last_value(p_tickets), 0);
    v_out := howdah._tickets_out(p_id, v_issued);
    select c.messages, c.bytes into v_messages, v_bytes
    from howdah._stored(p_id, p_message_limit + 1000, p_byte_limit is not null) c;
    v_left := p_message_limit - v_messages - p_messages;
    v_bytes_left := p_byte_limit - v_bytes - p_bytes;
    level := howdah._shares_reached(p_shares, v_messages, p_message_limit, v_bytes, p_byte_limit);
    over_messages := greatest(-v_left, 0);
    over_bytes := greatest(-v_bytes_left, 0);
    if v_left < 0 or v_bytes_left < 0 or v_shares > 1 and level = v_shares then
        verdict := 'full';
        if not v_held_snapshot and v_messages > 20000 then
            perform setval(p_room, (1::bigint << 61)
                | (howdah._pace(clock_timestamp() + least(20 * (clock_timestamp() - v_begun),
                    '2 s'::interval)) << 20) | v_settings);
        end if;
        return;
    end if;
    v_bytes_out := case when p_byte_limit is not null then v_out << v_bits end;
    if v_left < v_out or v_bytes_left < v_bytes_out
       or v_shares > 1 and howdah._shares_reached(p_shares, v_messages + v_out, p_message_limit, v_bytes + v_bytes_out,
           p_byte_limit) = v_shares then
        verdict := 'open';
        return;
    end if;
    verdict := 'taken';
    perform howdah._draw_tickets(p_id, p_tickets, v_shift, v_needed);
    level := howdah._shares_reached(p_shares, v_messages + p_messages, p_message_limit, v_bytes + p_bytes,
        p_byte_limit);
    if not v_held_snapshot then
        v_next := p_shares[level + 1];
        v_left := ceil(p_message_limit * v_next / 100.0) - (v_shares > 1)::integer - v_messages - p_messages - v_out;
        v_bytes_left := ceil(p_byte_limit * v_next / 100.0) - (v_shares > 1)::integer - v_bytes - p_bytes - v_bytes_out;
        v_taken := case when v_wrote then howdah._own_deletions() else 0 end;
        if v_taken > 0 then
            v_left := v_left - v_taken;
            v_bytes_left := case when p_byte_limit is not null then 0 end;
        end if;
        perform setval(p_room, (pg_sequence_last_value(p_tickets)
            + case when v_next is null then 0
                   else greatest(least(v_left, v_bytes_left >> v_bits,
                       case when v_shares > 1 and v_next = p_shares[v_shares] then 50 end), 0) end) << 20
            | v_settings);
    end if;
end
$$;
