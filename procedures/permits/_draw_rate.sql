-- howdah._draw_rate(p_queue, p_key, p_want): spend a queue's rates, its own and that of a key, for some
-- messages; or only look.
--
-- Returns  room: how many messages may go now, at most p_want. by_key: the key's rate is what left too little.
-- Role     internal
--
-- All is spent at once, or nothing is if room is less than p_want. Spent tokens stay spent, also if the transaction
-- rolls back or its session is killed: the message was given out. p_key NULL: of the queue's rate alone.
--
-- The sequences lie outside transactions. The lock around reading and setting them is given back at once, by a
-- subtransaction that always ends in an error; no transaction holds it.
create or replace function howdah._draw_rate(
    p_queue howdah.destinations, p_key text, p_want integer, out room integer, out by_key boolean
) returns record
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_now bigint;
    v_since bigint;
    v_cell howdah.rate_cells;
    v_of_key howdah.rate_cells;
    v_spent bigint;
    v_spent_of_key bigint;
    v_room bigint;
    v_ahead boolean;
begin
    room := p_want;
    by_key := false;
    begin
        perform pg_advisory_xact_lock(howdah._lock_key('rate', p_queue.id::text));
        v_now := howdah._microseconds(howdah.now());
        select c.* into v_cell from howdah.rate_cells c where c.destination_id = p_queue.id and c.number = 0;
        v_since := coalesce(pg_sequence_last_value(v_cell.mark), setval(v_cell.mark, v_now));
        if v_since > v_now then  -- the clock was set back
            v_since := setval(v_cell.mark, v_now);
        end if;
        if p_queue.rate_limit is not null then
            select r.spent, r.room, r.ahead into v_spent, room, v_ahead
            from howdah._rate_left(p_queue.rate_limit, v_cell, v_since, v_now) r;
            room := least(room, p_want);
            if v_ahead then
                perform setval(v_cell.spent, v_spent);
            end if;
        end if;
        if p_queue.rate_limit_per_key is not null and p_key is not null then
            v_of_key := howdah._rate_cell(p_queue, p_key, v_now);
            select r.spent, r.room, r.ahead into v_spent_of_key, v_room, v_ahead
            from howdah._rate_left(p_queue.rate_limit_per_key, v_of_key, v_since, v_now) r;
            by_key := v_room < room;
            room := least(v_room, room);
            if v_ahead then
                perform setval(v_of_key.spent, v_spent_of_key);
            end if;
        end if;
        if room = p_want then
            if p_queue.rate_limit is not null then
                perform setval(v_cell.spent, v_spent + p_want * r.spacing)
                from howdah._parse_rate(p_queue.rate_limit) r;
            end if;
            if v_of_key.spent is not null then
                perform setval(v_of_key.mark, howdah._fingerprint_of_key(p_key));  -- first: an unspent cell is harmless
                perform setval(v_of_key.spent, v_spent_of_key + p_want * r.spacing)
                from howdah._parse_rate(p_queue.rate_limit_per_key) r;
            end if;
        end if;
        raise exception 'the lock goes with this';
    exception when raise_exception then
        null;
    end;
end
$$;
