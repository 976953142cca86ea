-- pgmq._read_groups(p_queue, p_vt, p_qty, p_way): read messages group by group, and hide them.
--
-- Returns  the messages: by their numbers; with turn, in the order of the turns.
-- Raises   as pgmq._refuse; 2201W p_qty is negative; 0A000 the queue has an order or limits of its own; HD009, HD016,
--          HD040 as howdah.receive.
-- Role     internal
--
-- p_way is fill, turn or head. fill: all of the oldest group, then the next. turn: the first of each group, then the
-- second. head: only the first of each. A group whose first message is hidden gives none. The groups are locked before
-- the messages are looked at, and no more groups than are needed. So two readers never share a group.
create or replace function pgmq._read_groups(p_queue text, p_vt interval, p_qty bigint, p_way text)
returns setof pgmq.message_record
language plpgsql volatile
    set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_queue record;
    v_group record;
    v_groups text[] := '{}';
    v_found bigint := 0;
    v_chosen bigint[];
begin
    if p_qty < 0 then
        raise exception using errcode = 'invalid_row_count_in_limit_clause', message = 'LIMIT must not be negative';
    end if;
    select d.id, d.main_rank as rank, pgmq._is_usual(d) as usual, d.max_failed_deliveries > 0 as counted,
        howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive', d.receivers) as allowed
    into v_queue
    from howdah.destinations d
    where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue' and not d.receiving_paused;
    if v_queue.allowed is not true then
        perform howdah._refuse_paused((pgmq._refuse(p_queue, 'receive')).id);
        return;  -- a restart has just ended a stop of the engine: the next call reads
    elsif not v_queue.usual then
        raise exception using errcode = 'feature_not_supported',
            message = format('queue %s gives messages by its own order, not by groups of pgmq', quote_literal(p_queue));
    end if;
    perform howdah._return_leases(v_queue.id, null, v_now);
    perform pgmq._blame_reads(v_queue.id, v_now) where v_queue.counted;
    for v_group in
        select o.key, count(*) filter (where o.visible) as messages from pgmq._group_members(v_queue.id, v_now) o
        group by o.key having (array_agg(o.visible order by o.seq))[1] order by min(o.seq)
    loop
        exit when p_qty is not null and v_found >= p_qty;
        if pg_try_advisory_xact_lock(howdah._lock_key('group', v_queue.id || ':' || v_group.key)) then
            v_groups := v_groups || v_group.key;
            v_found := v_found + case when p_way = 'fill' then v_group.messages else 1 end;
        end if;
    end loop;
    v_chosen := array(
        select m.message_id
        from (
            select s.message_id, s.seq, s.visible, min(s.seq) over w as first,
                bool_and(s.visible) filter (where s.is_first) over (partition by s.key) as free,
                count(*) filter (where s.visible) over w as turn
            from (
                select g.*, g.seq = min(g.seq) over (partition by g.key) as is_first
                from pgmq._group_members(v_queue.id, v_now) g where g.key = any (v_groups)
            ) s
            window w as (partition by s.key order by s.seq)
        ) m
        where m.visible and m.free and (p_way <> 'head' or m.turn = 1)
        order by case when p_way = 'turn' then m.turn end, m.first, m.seq
        limit p_qty);
    perform howdah._open_lane(v_queue.id, v_queue.rank, 0);
    return query
    select h.*
    from pgmq._hide(v_queue.id, v_queue.rank,
        array(select m.seq from howdah.msgs m
            where m.destination_id = v_queue.id and m.rank = v_queue.rank and m.message_id = any (v_chosen)
            order by m.seq for update skip locked),
        true,
        array(select p.message_id from howdah.parked p
            where p.destination_id = v_queue.id and p.message_id = any (v_chosen) and p.due_at <= v_now
            order by p.message_id for update skip locked),
        v_now + p_vt, v_now) h
    order by case when p_way = 'turn'
        then array_position(v_chosen, (pgmq._message_ids(v_queue.id, array[h.msg_id]))[1]) end, h.msg_id;
end
$$;
