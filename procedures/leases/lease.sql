-- howdah.lease(queue, max_messages, duration, selector, consumer, acknowledge): receive messages for a limited time,
-- without an open transaction.
--
-- Returns  up to max_messages rows: lease, leased_until and the columns of howdah.message. lease (bigint) is the same
--          in all rows; it is the fencing token, greater than any given out before.
-- Raises   HD001 no such queue; HD003, HD005 max_messages is not 1 to 10000, duration is not 1 ms to 7 days, queue is a
--          topic, or a wildcard with acknowledge; HD009 receiving is paused; HD010 not allowed; HD016, HD019, HD023,
--          HD024, HD025, HD032 as howdah.receive; HD026 the lease to acknowledge has no messages left; nothing is
--          acknowledged or leased; HD040 the engine is paused, quiesced or stopped; HD002, HD004, HD027 the missing
--          queue cannot create itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 the
--          transformation cannot be called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- COMMIT at once. The messages then belong to the lease until leased_until, whatever happens to the session. Only the
-- leases of a consumer opened with own_session end with its session.
--
-- End the lease with howdah.ack (consumed), howdah.nack (a failed delivery) or howdah.release (given back without a
-- failure). howdah.extend lengthens it. A lease that runs out gives its messages back, which counts as a failed
-- delivery (incident LeaseExpired).
--
-- queue names a queue or a subscription, or is a wildcard as in howdah.receive. With a wildcard, all messages come from
-- one matching queue, queue_name; name that queue to end the lease.
--
-- acknowledge: a lease of the same queue that howdah.ack is to end first. A consumer that works batch after batch so
-- has one call and one commit for each. The call succeeds whether or not there is another message.
--
-- Every error of the call undoes the acknowledgement, too. If the queue was paused (HD009) or disabled (HD016), or the
-- consumer closed (HD032), call howdah.ack alone. A lease whose messages were all acknowledged or given back before is
-- refused (HD026): pass NULL then.
--
-- Leasing and receiving from one queue do not disturb each other. In a queue of strict order a lease has one message;
-- with message groups it has one of each group. Acknowledging some and giving back others would break the order.
--
-- The fast path takes messages from the main lane of a queue that has nothing else to give. Rows are deleted from msgs
-- and written to leased, where none is ever updated. Everything else is held and then moved to parked.
create or replace function howdah.lease(
    queue text, max_messages integer default 1, duration interval default '30 seconds', selector text default null,
    consumer bigint default null, acknowledge bigint default null
) returns table (
    LEASED_MESSAGE
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set jit = off
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off
as $$
declare
    v_queue record;
    v_now timestamptz := howdah.now();
    v_until timestamptz := howdah._lease_until(duration);
    v_lease bigint;
    v_left integer := max_messages;
    v_used bigint := 0;
    v_seqs bigint[];
    v_shift bigint;
    v_dense boolean;
    v_locked boolean;
    v_failed bigint[];
    v_failures integer[];
    v_ended bigint[];
    v_taken integer;
    v_way text;
begin
    if current_setting('howdah.commit_by_reliability', true) <> '' then
        return query select * from howdah._lease_noting(queue, max_messages, duration, selector, consumer, acknowledge);
        return;
    end if;
    if acknowledge is not null then
        perform howdah._ack_before(queue, acknowledge);
    end if;
    select d.id, d.name, d.failing, d.dispose_at as most, d.main_rank as rank,
        row(0, d.id, d.main_rank, 2, d.head, d.search)::howdah.lanes as lane,
        pg_sequence_last_value(d.special) is null as plain,
        pg_sequence_last_value(d.positions) - 64 - coalesce(pg_sequence_last_value(d.head), 0) >= max_messages
            as backlog,
        exists (select from howdah.lanes l where l.destination_id = d.id and l.rank = d.main_rank and l.place = 0
            and l.head is not null) as opened,
        howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive', d.receivers) as allowed
    into v_queue
    from howdah.destinations d
    where d.name = queue and d.dropped_at is null and d.kind = 'queue' and not d.receiving_paused and d.main_rank >= 0
      and max_messages between 1 and 10000 and selector is null and consumer is null;
    if v_queue.allowed and (v_queue.plain or howdah._is_plain(v_queue.id)) then
        foreach v_way in array '{batch,back,draw,redraw,redraw,redraw,head}'::text[] loop
            if v_way = 'batch' then
                continue when v_queue.backlog is not true;
                v_seqs := howdah._draw_next(v_queue.lane, max_messages);
                v_locked := false;
            else
                continue when v_way = 'back' and v_left < max_messages;  -- what came back is for the next call
                select n.positions, n.locked into v_seqs, v_locked
                from howdah._next_positions(v_queue.lane, v_way, v_left,
                    case when v_left < max_messages then 0 end, false) n;
            end if;
            continue when coalesce(cardinality(v_seqs), 0) = 0;
            if pg_sequence_last_value(v_queue.failing) is not null then
                select c.positions, c.failed, c.failures, c.ended into v_seqs, v_failed, v_failures, v_ended
                from howdah._lock_and_count(v_queue.id, v_queue.rank, v_seqs, v_locked, v_queue.most) c;
                continue when cardinality(v_seqs) = 0;
                v_locked := true;
            end if;
            v_lease := coalesce(v_lease, nextval('howdah.lease_numbers'::regclass));
            v_shift := (v_lease << 20) + v_used - v_seqs[1];
            -- negative if another call put the head back between two draws (howdah._next_positions)
            v_dense := v_seqs[cardinality(v_seqs)] - v_seqs[1] between 0 and 4 * cardinality(v_seqs) - 1;
            v_used := v_used + 1 + case when v_dense then v_seqs[cardinality(v_seqs)] - v_seqs[1]
                else cardinality(v_seqs) end;
            return query
            with gone as (
                delete from howdah.msgs m
                where m.destination_id = v_queue.id and m.rank = v_queue.rank
                  and m.seq between v_seqs[1] and v_seqs[cardinality(v_seqs)] and m.seq = any (v_seqs)
                  and (v_locked or m.xmax = 0) and (m.expires_at > v_now) is not false and m.stage = 0
                  and m.message_id = m.seq * 1000000 + v_queue.id
                  and (m.message_id <> all (v_ended)) is not false
                returning m.*
            )
            insert into howdah.leased as i
            select case when v_dense then g.seq + v_shift else v_shift + v_seqs[1] + array_position(v_seqs, g.seq) end,
                g.message_id, g.sent_at, g.expires_at, g.dead_at, g.destination_id, g.origin_id, g.rank, g.stage,
                g.is_text, g.content_type, g.body, g.headers, g.correlation_id, g.reply_to, g.message_type,
                g.conversation_id, g.dead_reason, g.reliability
            from gone g
            returning v_lease, v_until, i.message_id, v_queue.name,
                CONTENT_OF i ELSE howdah._body(i.message_id),
                'persistent', i.sent_at, i.expires_at,
                1 + coalesce(v_failures[array_position(v_failed, i.message_id)], 0),
                array_position(v_failed, i.message_id) is not null, i.message_id / 1000000, 0,
                case when i.origin_id is not null then howdah._destination_name(i.origin_id) end, i.dead_reason,
                i.dead_at, case when i.reliability is null then 'ASSURED_PERSISTENT' else 'RELIABLE_PERSISTENT' end;
            get diagnostics v_taken = row_count;
            v_left := v_left - v_taken;
            if v_taken < cardinality(v_seqs) then
                return query select v_lease, v_until, r.* from howdah._lease_rest(v_queue.id, v_queue.name,
                    v_queue.rank, v_lease, v_until, v_seqs, v_locked, v_now, v_queue.most) r;
                get diagnostics v_taken = row_count;
                v_left := v_left - v_taken;
            end if;
            exit when v_left <= 0;
        end loop;
        if v_left < max_messages then
            perform howdah._open_lane(v_queue.id, v_queue.rank, 0) where not v_queue.opened;
            insert into howdah.leases (lease_id, until, destination_id, rank)
            values (v_lease, v_until, v_queue.id, v_queue.rank);
            return;
        end if;
    end if;
    return query select * from howdah._lease_otherwise(queue, max_messages, duration, selector, consumer, v_until,
        v_queue.id is null);
end
$$;
