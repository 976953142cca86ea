-- pgmq._read(p_queue, p_vt, p_qty, p_conditional, p_pop, p_taken): take the visible messages with the lowest numbers,
-- out of sight or for good.
--
-- Returns  the messages.
-- Raises   as pgmq._refuse; 2201W p_qty is negative; and as howdah.receive.
-- Role     internal
--
-- p_taken: how many of p_qty the caller has taken already, after it looked for due ones. It finds ready messages as
-- howdah.lease does. If a parked one may be due, pgmq._find looks at both. A queue that is not usual is left to
-- howdah.receive.
create or replace function pgmq._read(
    p_queue text, p_vt interval, p_qty bigint, p_conditional jsonb, p_pop boolean, p_taken integer
) returns setof pgmq.message_record
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_now timestamptz := howdah.now();
    v_until timestamptz := v_now + p_vt;
    v_queue record;
    v_parked howdah.lanes;
    v_due bigint[];
    v_seqs bigint[];
    v_locked boolean;
    v_left bigint := coalesce(p_qty, 2147483647) - p_taken;
    v_taken integer;
    v_way text;
    v_expired integer;
begin
    if v_left < 0 then
        raise exception using errcode = 'invalid_row_count_in_limit_clause', message = 'LIMIT must not be negative';
    end if;
    select d.id, d.name, d.main_rank as rank, d.journaled,
        row(0, d.id, d.main_rank, 2, d.head, d.search)::howdah.lanes as lane,
        coalesce(pg_sequence_last_value(d.head), 0) as headed,
        pg_sequence_last_value(d.positions) - 64 - coalesce(pg_sequence_last_value(d.head), 0) >= v_left as backlog,
        howdah._is_due(pg_sequence_last_value(d.search), howdah._pace(clock_timestamp())) as due,
        p_conditional is not null or p_taken = 0 and pg_sequence_last_value(d.special) is not null
            and (pg_sequence_last_value(l.head) > 1
                 -- not exists: that would drop the order, and a plan could then walk all rows by number
                 or coalesce((select true from howdah.parked p
                    where p.destination_id = d.id and p.rank = d.main_rank and p.due_at <= v_now
                    order by p.due_at, p.seq limit 1), false)
                 or coalesce((select true from howdah.leases o
                    where o.destination_id = d.id and o.rank = d.main_rank and o.until <= v_now
                    order by o.until limit 1), false)) as parked,
        -- as pgmq._is_usual, whose call would cost 10 us
        pg_sequence_last_value(d.special) is null or not d.limited and not d.strict_order
            and d.backout_count <> 'hardened' and d.message_groups = 'none' and d.delivery_policy = 'shared'
            and not exists (select from howdah.consumers c where c.destination_id = d.id and c.exclusive)
            and not exists (select from howdah.lanes o
                where o.destination_id = d.id and (o.place > 0 or o.rank <> d.main_rank)) as usual,
        l as parking,
        howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive', d.receivers) as allowed
    into v_queue
    from howdah.destinations d left join howdah.lanes l
        on l.destination_id = d.id and l.rank = d.main_rank and l.place = 0 and l.head is not null
    where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue' and not d.receiving_paused
      and d.main_rank >= 0 and d.max_failed_deliveries = 0 and not (p_pop and d.keep_bodies_ms is not null)
      and current_setting('howdah.commit_by_reliability', true) <> '' is not true;
    if v_queue.allowed is not true or not v_queue.usual then
        return query select * from pgmq._read_otherwise(p_queue, v_until, v_left, p_conditional, p_pop);
        return;
    elsif v_left = 0 then
        return;
    end if;
    v_parked := v_queue.parking;
    -- Dead rows make the look for due ones slow; then howdah._may_be_due notes from where it goes on.
    if p_conditional is null and v_parked.id is not null and (v_queue.parked
            or p_taken = 0 and clock_timestamp() - v_begun > interval '1 ms') then
        v_queue.parked := howdah._may_be_due(v_parked, v_now);
    end if;
    if v_queue.parked then
        perform howdah._return_leases(v_queue.id, null, v_now);
        -- What came back behind the head goes first: pgmq._find does not look there, and may find due ones forever.
        if v_queue.due and p_conditional is null then
            select n.positions, n.locked into v_seqs, v_locked
            from howdah._next_positions(v_queue.lane, 'back', v_left::integer, null, false) n;
        end if;
        if coalesce(cardinality(v_seqs), 0) = 0 then
            select f.seqs, f.parked, true into v_seqs, v_due, v_locked
            from pgmq._find(v_queue.id, v_queue.rank, v_queue.headed, v_left, p_conditional, v_now, v_parked) f;
        end if;
        if not p_pop then
            if v_parked.head is null then
                perform howdah._open_lane(v_queue.id, v_queue.rank, 0);
            end if;
            return query select * from pgmq._hide(v_queue.id, v_queue.rank, v_seqs, v_locked,
                coalesce(v_due, '{}'), v_until, v_now);
        else
            return query select * from pgmq._consume(v_queue.id, v_queue.rank, v_seqs, v_locked, v_due,
                v_queue.journaled, v_now);
        end if;
        return;
    end if;
    loop
        v_expired := 0;
        foreach v_way in array '{batch,back,draw,redraw,redraw,redraw,head}'::text[] loop
            if v_way = 'batch' then
                continue when v_queue.backlog is not true;
                v_seqs := howdah._draw_next(v_queue.lane, v_left::integer);
                v_locked := false;
            else
                continue when v_way = 'back' and v_left < p_qty;  -- what came back is for the next call
                select n.positions, n.locked into v_seqs, v_locked
                from howdah._next_positions(v_queue.lane, v_way, v_left::integer,
                    case when v_left < p_qty then 0 end, false) n;
            end if;
            continue when coalesce(cardinality(v_seqs), 0) = 0;
            if not p_pop then
                if v_parked.head is null then
                    perform howdah._open_lane(v_queue.id, v_queue.rank, 0);
                end if;
                return query select * from pgmq._hide(v_queue.id, v_queue.rank, v_seqs, v_locked, null, v_until, v_now);
            else
                return query select * from pgmq._consume(v_queue.id, v_queue.rank, v_seqs, v_locked, null,
                    v_queue.journaled, v_now);
            end if;
            get diagnostics v_taken = row_count;
            v_left := v_left - v_taken;
            if v_taken < cardinality(v_seqs) then
                v_expired := v_expired + pgmq._expire(v_queue.id, v_queue.rank, v_seqs, v_now);
            end if;
            exit when v_left <= 0;
        end loop;
        exit when v_left <= 0 or v_expired = 0;
        v_queue.backlog := false;  -- the other ways find the messages behind the expired ones
    end loop;
end
$$;
