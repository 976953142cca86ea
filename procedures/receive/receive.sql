-- howdah.receive(queue, max_messages, hold, selector, consumer): take messages; COMMIT consumes them, ROLLBACK puts
-- them back in their place.
--
-- Returns  up to max_messages rows of howdah.message, by priority and position; no row if the queue has none to give.
--          queue may name a subscription (howdah.subscribe): its messages come in the order in which the topic was
--          read, and origin_queue is the topic. A shared subscription gives at most four times
--          max_locks_per_transaction (256).
-- Raises   HD001 no such queue, or no queue matches; HD003 the wildcard is invalid; HD005 max_messages is not 1 to
--          10000, or queue is a topic; HD009 receiving is paused; HD010 not allowed; HD016 failures in a row disabled
--          the queue; HD019 the queue is hardened; HD023 the selector is invalid; HD024 somebody else reads or leases
--          an unshared subscription, or has an open consumer of it; HD025 a restored database (howdah.rebase_topics);
--          HD032 the consumer is not open, or the queue needs one.
-- Role     howdah_consumer howdah_admin
--
-- Messages that other transactions are receiving are skipped. Expired messages are discarded. A message whose recorded
-- failures have reached the queue's limit is not delivered; the queue's policy disposes of it.
--
-- hold: as howdah.receive_locked. selector: receive only the messages that it selects (docs/selectors.md); the others
-- stay where they are. consumer: the number from howdah.open_consumer, where a queue tells its consumers apart.
-- queue: it may be a wildcard, JOBS.* or JOBS.>, for all matching queues that the caller may receive from.
--
-- It does not wait. An empty result means that this call found nothing. If a rollback returned a message far behind the
-- place where others receive, several more calls may be needed to find it. How long that takes stands in
-- docs/decisions/0006-the-claim-path.md.
create or replace function howdah.receive(
    queue text, max_messages integer default 1, hold boolean default false, selector text default null,
    consumer bigint default null
) returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off
as $$
-- The first part serves the usual call: one message from the main lane, with no search and no parked message due. It
-- has as few expressions as possible, because PostgreSQL prepares each of them anew in every transaction.
-- Everything else goes lane by lane (a lane is what lies in one place with one priority), in six ways. Way 1: what came
-- back behind the head, if a look is due. Ways 2 to 5, under a backlog: the next positions, each drawn by nextval for
-- one receiver only; a position may be empty. Way 6: what lies from the head on.
-- A receive looks everywhere only if it has found nothing so far. The settings make the statements walk the key,
-- because sessions keep plans that were made while the queue was short. docs/decisions/0006 says why nothing is missed.
declare
    v_queue record;
    v_id integer;
    v_lanes howdah.lanes[];
    v_lane howdah.lanes;
    v_message howdah.msgs;
    v_walk howdah.walk;
    v_now timestamptz;
    v_pace bigint;
    v_left integer;
    v_want integer;
    v_head bigint;
    v_tail bigint;
    v_from bigint;
    v_back bigint;
    v_drawn boolean;
    v_seq bigint;
    v_seqs bigint[];
    v_locked boolean;
    v_taken integer;
    v_everywhere boolean;
    v_again smallint;
    v_one_by_one boolean := false;
    v_stream record;
    v_topic text;
    v_topic_id integer;
    v_from_xid xid8;
    v_to xid8;
    v_done pg_snapshot;
    v_upto pg_snapshot;
    v_run_xid xid8;
    v_run_after bigint;
    v_run_upto bigint;
    v_dense boolean;
begin
    select d.id, d.kind, d.receiving_paused, d.positions, d.failing, d.special, d.head, d.search, d.main_rank,
        d.receivers, d.journal_level <> 'off' as journaled, d.dispose_at as most,
        coalesce(pg_sequence_last_value(d.head), 0) as headed,
        pg_sequence_last_value(d.positions) - 64 > coalesce(pg_sequence_last_value(d.head), 0) as backlog,
        pg_sequence_last_value(d.special) is null as plain, d.message_groups = 'transaction' as grouped,
        max_messages = 1 and not hold and selector is null and consumer is null and not d.receiving_paused
            and not howdah._is_due(pg_sequence_last_value(d.search), howdah._pace(clock_timestamp()))
            and howdah._has_role(d.receivers[1]) as usual
    into v_queue
    from howdah.destinations d where d.name = queue and d.dropped_at is null;
    if v_queue.usual and (v_queue.plain or not v_queue.grouped and howdah._is_plain(v_queue.id)) then
        if v_queue.backlog then
            -- A message at the head that was taken before, is free and still exists was returned by a rollback. What
            -- was taken last came back, so the search comes first.
            perform from howdah.msgs m
            where m.destination_id = v_queue.id and m.rank = v_queue.main_rank and m.seq = v_queue.headed
              and m.xmax <> 0
            for update skip locked;
            if not found then
                v_seq := nextval(v_queue.head);
            end if;
        else
            select m.seq into v_seq from howdah.msgs m
            where m.destination_id = v_queue.id and m.rank = v_queue.main_rank and m.seq > v_queue.headed - 16
            order by m.seq limit 1 for update skip locked;
            v_locked := v_seq > v_queue.headed and howdah._advance(v_queue.head, v_seq);
        end if;
        delete from howdah.msgs m
        where m.destination_id = v_queue.id and m.rank = v_queue.main_rank and m.seq = v_seq
          and (v_locked or m.xmax = 0)
        returning m.* into v_message;
    elsif v_queue.usual and v_queue.grouped then
        v_message := howdah._take_one_of_group(v_queue.id, v_queue.main_rank, v_queue.head, v_queue.headed);
    end if;
    if v_message.seq is not null then
        if (pg_sequence_last_value(v_queue.failing) is null
                or howdah._is_unblamed(v_message.message_id,
                    howdah._group(v_message.headers, v_message.conversation_id)))
           and (v_message.expires_at > howdah.now()) is not false then
            if v_queue.journaled then
                insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
                values (howdah.now(), v_queue.id, 'consumed', array[v_message.message_id], v_message.sent_at);
            end if;
            if v_message.body is null then
                v_message.body := howdah._take_body(v_message.message_id);
            end if;
            return next row(v_message.message_id, queue,
                case when v_message.is_text then convert_from(v_message.body, 'UTF8') end,
                case when not v_message.is_text then v_message.body end, v_message.content_type, v_message.headers,
                9 - v_message.rank, v_message.correlation_id, v_message.reply_to, v_message.message_type,
                v_message.conversation_id, 'persistent', v_message.sent_at, v_message.expires_at, 1, false,
                v_message.seq, v_message.stage::integer,
                case when v_message.origin_id is not null then howdah._destination_name(v_message.origin_id) end,
                v_message.dead_reason, v_message.dead_at
            )::howdah.message;
            return;
        end if;
        return query select * from howdah._deliver(v_queue.id, v_message, howdah.now(), v_queue.most,
            v_queue.journaled);
        if found then
            return;
        end if;
    end if;

    if v_queue.kind is null and queue ~ '[*>]' and strpos(queue, ':') = 0 then
        return query select * from howdah._receive_any(queue, max_messages, hold, selector);
        return;
    elsif v_queue.kind = 'queue' and howdah._has_role(v_queue.receivers[1]) is not true or v_queue.kind is null then
        perform howdah._destination(queue, 'receive');
    end if;
    if max_messages is null or max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(max_messages::text, 'NULL'));
    end if;
    if v_queue.kind <> 'queue' then
        if btrim(selector) <> '' then
            raise exception using errcode = 'HD005',
                message = format('%s is no queue: a selector is for queues', quote_literal(queue)),
                hint = 'A subscription has its selector from howdah.subscribe.';
        end if;
        -- The rows go straight from the tables into the result, because the result of a function is copied into its
        -- caller's. The rest of a transaction that was read in part comes first, then what is new. Late commits are
        -- among the new rows: their ids are lower than those of all transactions begun since the cursor's snapshot. A
        -- long run of one transaction is read as a run, so that its messages need not be looked at again.
        select * into v_stream from howdah._begin_stream(queue, hold, v_queue.plain, consumer);
        if v_stream.slot is null then
            return query select * from howdah._receive_published(v_stream.destination, v_stream.subscription, queue,
                max_messages, hold);
            return;
        end if;
        v_topic := v_stream.topic;
        v_topic_id := v_stream.topic_id;
        -- A snapshot that comes out of a record is packed, and would be unpacked for each row.
        v_upto := v_stream.upto::text::pg_snapshot;
        v_now := v_stream.moment;
        v_left := max_messages;
        v_from_xid := (v_stream.ack_cursor).xid;
        v_from := (v_stream.ack_cursor).seq;
        v_to := v_from_xid;
        for v_way in case when v_from >= 0 then 1 else 2 end..2 loop
            if v_way = 2 then
                v_from_xid := coalesce(v_stream.late, pg_snapshot_xmax(v_stream.done));
                v_from := -1;
                v_to := pg_snapshot_xmax(v_upto);
                v_done := case when v_stream.late is not null then v_stream.done end;
            end if;
            v_dense := true;
            loop
                v_run_upto := null;
                if v_left >= 500 and v_done is null and v_dense then
                    select r.xid, r.after_seq, r.upto_seq into v_run_xid, v_run_after, v_run_upto
                    from howdah._find_run(v_stream, v_from_xid, v_from, v_to, v_left) r;
                    exit when v_run_xid is null;
                    v_dense := v_run_upto - v_run_after >= 500;
                    v_run_upto := case when v_dense then v_run_upto end;
                end if;
                if v_run_upto is not null then
                    v_from_xid := v_run_xid;
                    v_from := v_run_after;
                    if v_stream.slot = 0 and not v_stream.nonpersistent then
                        return query select * from howdah._run_persistent_0(queue, v_topic, v_topic_id, v_run_xid,
                            v_run_after, v_run_upto, v_now);
                    elsif v_stream.slot = 0 and v_stream.nonpersistent then
                        return query select * from howdah._run_nonpersistent_0(queue, v_topic, v_topic_id, v_run_xid,
                            v_run_after, v_run_upto, v_now);
                    elsif v_stream.slot = 1 and not v_stream.nonpersistent then
                        return query select * from howdah._run_persistent_1(queue, v_topic, v_topic_id, v_run_xid,
                            v_run_after, v_run_upto, v_now);
                    elsif v_stream.slot = 1 and v_stream.nonpersistent then
                        return query select * from howdah._run_nonpersistent_1(queue, v_topic, v_topic_id, v_run_xid,
                            v_run_after, v_run_upto, v_now);
                    elsif v_stream.slot = 2 and not v_stream.nonpersistent then
                        return query select * from howdah._run_persistent_2(queue, v_topic, v_topic_id, v_run_xid,
                            v_run_after, v_run_upto, v_now);
                    elsif v_stream.slot = 2 and v_stream.nonpersistent then
                        return query select * from howdah._run_nonpersistent_2(queue, v_topic, v_topic_id, v_run_xid,
                            v_run_after, v_run_upto, v_now);
                    end if;
                elsif v_stream.slot = 0 and not v_stream.nonpersistent then
                    return query select * from howdah._stream_persistent_0(
                        queue, v_topic, v_topic_id, v_from_xid, v_from, v_to, v_done, v_upto, v_now, v_left);
                elsif v_stream.slot = 0 and v_stream.nonpersistent then
                    return query select * from howdah._stream_nonpersistent_0(
                        queue, v_topic, v_topic_id, v_from_xid, v_from, v_to, v_done, v_upto, v_now, v_left);
                elsif v_stream.slot = 1 and not v_stream.nonpersistent then
                    return query select * from howdah._stream_persistent_1(
                        queue, v_topic, v_topic_id, v_from_xid, v_from, v_to, v_done, v_upto, v_now, v_left);
                elsif v_stream.slot = 1 and v_stream.nonpersistent then
                    return query select * from howdah._stream_nonpersistent_1(
                        queue, v_topic, v_topic_id, v_from_xid, v_from, v_to, v_done, v_upto, v_now, v_left);
                elsif v_stream.slot = 2 and not v_stream.nonpersistent then
                    return query select * from howdah._stream_persistent_2(
                        queue, v_topic, v_topic_id, v_from_xid, v_from, v_to, v_done, v_upto, v_now, v_left);
                elsif v_stream.slot = 2 and v_stream.nonpersistent then
                    return query select * from howdah._stream_nonpersistent_2(
                        queue, v_topic, v_topic_id, v_from_xid, v_from, v_to, v_done, v_upto, v_now, v_left);
                end if;
                get diagnostics v_taken = row_count;
                v_left := v_left - v_taken;
                perform howdah._pass_stream(v_stream, v_way = 1, v_from_xid, v_from,
                    case when v_run_upto is null then v_to else v_run_xid end, v_run_upto, v_done, v_taken,
                    max_messages - v_left, v_left = 0);
                if v_left = 0 then
                    return;
                end if;
                exit when v_run_upto is null;
                v_dense := v_taken = v_run_upto - v_from;  -- where numbers are missing, the rest comes in one piece
                v_from := v_run_upto;
            end loop;
        end loop;
        perform howdah._end_stream(v_stream, max_messages - v_left);
        return;
    end if;
    if v_queue.receiving_paused then
        perform howdah._check_disabled(v_queue.id);
        raise exception using errcode = 'HD009', message = format('receiving from queue %s is paused',
            quote_literal(queue)),
            hint = 'An administrator resumes it with howdah.resume(queue).';
    end if;
    v_id := v_queue.id;
    v_left := max_messages;
    v_everywhere := false;
    v_now := howdah.now();
    v_pace := howdah._pace(clock_timestamp());
    v_lanes := array[row(0, v_id, v_queue.main_rank, 2, v_queue.head, v_queue.search)::howdah.lanes];
    if pg_sequence_last_value(v_queue.special) is not null or selector is not null or consumer is not null then
        if v_queue.grouped and max_messages <= 32 and not hold and selector is null and consumer is null
           and pg_sequence_last_value(v_queue.failing) is null then
            return query select * from howdah._receive_of_groups(v_lanes[1], queue, v_now, max_messages,
                v_queue.journaled);
            if found then
                return;
            end if;
        end if;
        v_walk := howdah._admit(v_id, v_queue.main_rank, selector, consumer, hold);
        if not v_walk.admitted then
            return;
        end if;
        v_one_by_one := howdah._is_one_by_one(v_id);
        if hold and v_one_by_one and howdah._is_strict(v_id) then
            max_messages := 1;
            v_left := 1;  -- consuming some held messages and leaving others would break the order
        end if;
        v_lanes := howdah._in_order(v_lanes || array(select l from howdah.lanes l where l.destination_id = v_id));
    end if;
    loop
        foreach v_lane in array v_lanes loop
            continue when v_lane.rank < v_again;
            if v_walk.groups is not null and v_lane.place < 2 then
                v_lane.head := null;  -- walked from the beginning
                v_lane.search := null;
            end if;
            if v_lane.place = 2 and v_walk.groups is null then
                v_head := coalesce(pg_sequence_last_value(v_lane.head), 0);
                v_tail := coalesce(pg_sequence_last_value(v_queue.positions), 0);
                if v_head > v_tail then
                    v_head := setval(v_lane.head, v_tail);
                end if;
                v_drawn := false;
            end if;
            for v_way in 1..case when v_lane.place = 2 and v_walk.groups is null then 6 else 1 end loop
                v_seqs := null;
                v_want := v_left;
                if v_lane.place < 2 or v_walk.groups is not null then
                    null;
                elsif v_way = 1 then
                    v_locked := true;
                    if v_lane.search is null or v_lane.rank = v_again then
                        continue;
                    elsif v_everywhere then
                        v_seqs := howdah._search(v_lane, v_head, v_left, true);
                    else
                        v_back := null;
                        if v_tail > v_head + 64 then
                            -- Under a backlog the last 256 positions belong to tickets, some of which are in use. Where
                            -- receives are rare, none are.
                            select m.seq into v_back from howdah.msgs m
                            where m.destination_id = v_id and m.rank = v_lane.rank and m.seq = v_head and m.xmax <> 0
                            for update skip locked;
                            v_back := coalesce(v_back, v_head
                                - case when howdah._is_overdue(pg_sequence_last_value(v_lane.search), v_pace) then 0
                                    else 256 end);
                        end if;
                        if v_back = v_head or howdah._is_due(pg_sequence_last_value(v_lane.search), v_pace) then
                            v_seqs := howdah._search(v_lane, coalesce(v_back, v_head), v_left, false,
                                v_head - coalesce(v_back, v_head));
                        end if;
                    end if;
                elsif v_way <= 5 then
                    continue when v_tail <= v_head + 64 or v_lane.head is null;
                    v_locked := false;
                    v_want := least(v_left, v_tail - v_head - 64);
                    v_seqs := case when v_want = 1 then array[nextval(v_lane.head)]
                        else array(select nextval(v_lane.head) from generate_series(1, v_want)) end;
                    v_head := greatest(v_head, v_seqs[v_want]);
                    v_drawn := true;
                else
                    continue when v_tail <= v_head - 16 and not v_everywhere;
                    v_locked := true;
                    -- What this call already holds lies at v_head or before it; the sequence may have been put back
                    -- meanwhile.
                    v_from := case when v_drawn then greatest(v_head, pg_sequence_last_value(v_lane.head))
                        when hold and v_left < max_messages or v_lane.rank = v_again then v_head else v_head - 16 end;
                    v_seqs := array(
                        select m.seq from howdah.msgs m
                        where m.destination_id = v_id and m.rank = v_lane.rank and m.seq > v_from
                        order by m.seq limit v_left for update skip locked);
                    v_taken := cardinality(v_seqs);
                    if v_lane.head is null then
                        null;
                    elsif v_taken > 0 and v_seqs[1] <= v_head then
                        v_seqs := howdah._search(v_lane, greatest(v_head, v_seqs[v_taken]), v_left, false);
                        if v_seqs[cardinality(v_seqs)] > v_head then
                            perform howdah._advance(v_lane.head, v_seqs[cardinality(v_seqs)]);
                        end if;
                    elsif v_taken < v_left and v_tail - 64 > coalesce(v_seqs[v_taken], v_head) then
                        -- This is a gap, or positions of other lanes. The last 64 may belong to transactions about to
                        -- commit.
                        perform howdah._advance(v_lane.head, v_tail - 64);
                    elsif v_taken > 0 then
                        perform howdah._advance(v_lane.head, v_seqs[v_taken]);
                    end if;
                end if;
                continue when v_lane.place = 2 and v_walk.groups is null and coalesce(cardinality(v_seqs), 0) = 0
                    or v_lane.place = 0 and not v_everywhere and not howdah._may_be_due(v_lane, v_now);

                if v_lane.place = 2 and v_walk.groups is null and not hold and not v_locked
                   and pg_sequence_last_value(v_queue.failing) is null then
                    -- Nobody ever took these messages (xmax = 0), so no failures need to be counted. The index gives
                    -- them in order. The range condition is for PostgreSQL up to 16, which may use the array only as a
                    -- filter. It would then read the dead rows of the whole lane.
                    return query
                    with taken as materialized (
                        delete from howdah.msgs m
                        where m.destination_id = v_id and m.rank = v_lane.rank
                          and m.seq between v_seqs[1] and v_seqs[v_want] and m.seq = any (v_seqs) and m.xmax = 0
                        returning m.*
                    ), journaled as (
                        insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
                        select v_now, v_id, 'consumed', array_agg(c.message_id), min(c.sent_at)
                        from taken c where (c.expires_at > v_now) is not false and v_queue.journaled
                        having count(*) > 0
                    )
                    select c.message_id, queue, case
                        when c.is_text then convert_from(coalesce(c.body, howdah._take_body(c.message_id)), 'UTF8') end,
                        case when not c.is_text then coalesce(c.body, howdah._take_body(c.message_id)) end,
                        c.content_type, c.headers, 9 - c.rank, c.correlation_id, c.reply_to, c.message_type,
                        c.conversation_id, 'persistent', c.sent_at, c.expires_at, 1, false,
                        c.seq, c.stage::integer, case when c.origin_id is not null
                            then howdah._destination_name(c.origin_id) end,
                        c.dead_reason, c.dead_at
                    from taken c
                    where (c.expires_at > v_now) is not false
                      or howdah._dispose(v_id, row(c.seq, c.message_id, c.sent_at,
                        c.expires_at, c.dead_at, c.destination_id, c.origin_id, c.rank, c.stage, c.is_text,
                        c.content_type, c.body, c.headers, c.correlation_id, c.reply_to, c.message_type,
                        c.conversation_id, c.dead_reason)::howdah.msgs, false, null, v_now);
                elsif v_lane.place = 2 and v_walk.groups is null and not hold then
                    return query
                    with taken as materialized (
                        delete from howdah.msgs m
                        where m.destination_id = v_id and m.rank = v_lane.rank
                          and m.seq between v_seqs[1] and v_seqs[cardinality(v_seqs)] and m.seq = any (v_seqs)
                          and (v_locked or m.xmax = 0)
                        returning m.*
                    ), failed as materialized (
                        select f.*
                        from (select array_agg(t.message_id) as ids, array_agg(t.stage) as stages,
                            array_agg(t.conversation_id) as conversations,
                                array_agg(howdah._group(t.headers, t.conversation_id)) as groups
                              from taken t) a
                        cross join lateral howdah._count_failures(v_id, a.ids, a.stages, a.conversations, a.groups) f
                        where (select pg_sequence_last_value(v_queue.failing) is not null and count(*) > 0 from taken)
                    ), claimed as materialized (
                        select t.*, coalesce(f.failures, 0) as failures,
                            coalesce(t.expires_at <= v_now, false) or coalesce(f.weight, 0) >= v_queue.most as ended
                        from taken t left join failed f on f.message_id = t.message_id and f.stage = t.stage
                    ), journaled as (
                        insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
                        select v_now, v_id, 'consumed', array_agg(c.message_id), min(c.sent_at)
                        from claimed c where not c.ended and v_queue.journaled
                        having count(*) > 0
                    )
                    select c.message_id, queue, case
                        when c.is_text then convert_from(coalesce(c.body, howdah._take_body(c.message_id)), 'UTF8') end,
                        case when not c.is_text then coalesce(c.body, howdah._take_body(c.message_id)) end,
                        c.content_type, c.headers, 9 - c.rank, c.correlation_id, c.reply_to, c.message_type,
                        c.conversation_id, 'persistent', c.sent_at, c.expires_at, c.failures + 1, c.failures > 0, c.seq,
                        c.stage::integer,
                        case when c.origin_id is not null then howdah._destination_name(c.origin_id) end,
                        c.dead_reason, c.dead_at
                    from claimed c
                    where not c.ended or howdah._dispose(v_id,
                        row(c.seq, c.message_id, c.sent_at, c.expires_at, c.dead_at,
                        c.destination_id, c.origin_id, c.rank, c.stage, c.is_text, c.content_type, c.body, c.headers,
                        c.correlation_id, c.reply_to, c.message_type, c.conversation_id, c.dead_reason)::howdah.msgs,
                        false, null, v_now)
                    order by c.seq;
                else
                    return query
                    with taken as materialized (
                        select t as claim, t.*, row_number() over () as number
                        from howdah._claim(v_lane, v_want, v_now, hold, v_seqs, v_locked, v_everywhere, v_walk) t
                    ), failed as materialized (
                        select f.*
                        from (select array_agg(t.message_id) as ids, array_agg(t.stage) as stages,
                            array_agg(t.conversation_id) as conversations,
                                array_agg(howdah._group(t.headers, t.conversation_id)) as groups
                              from taken t) a
                        cross join lateral howdah._count_failures(v_id, a.ids, a.stages, a.conversations, a.groups) f
                        where (select pg_sequence_last_value(v_queue.failing) is not null and count(*) > 0 from taken)
                    ), claimed as materialized (
                        select t.*, coalesce(f.failures, 0) as failures,
                            coalesce(t.expires_at <= v_now, false) or coalesce(f.weight, 0) >= v_queue.most as ended,
                            -- A message that must wait holds up those behind it, though its failure was recorded
                            -- after the walk looked.
                            coalesce(v_walk.groups, 'none') <> 'none' and exists (
                                select from failed w join taken b on b.message_id = w.message_id and b.stage = w.stage
                                where w.weight = 2147483647 and b.number < t.number
                                  and howdah._group(b.headers, b.conversation_id)
                                      = howdah._group(t.headers, t.conversation_id)) as held_up
                        from taken t left join failed f on f.message_id = t.message_id and f.stage = t.stage
                    ), journaled as (
                        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids,
                            oldest_sent_at)
                        select case when v_walk.groups <> 'none' then howdah.now() else v_now end, v_id,
                        c.nonpersistent, 'consumed',
                            case when v_walk.condition is not null then 'selected' end,
                            array_agg(c.message_id), min(c.sent_at)
                        from claimed c where not c.ended and not c.held_up and not hold and v_queue.journaled
                        group by c.nonpersistent
                    )
                    select c.message_id, queue, case
                        when c.is_text then convert_from(coalesce(c.body,
                            case when hold then howdah._body(c.message_id) else howdah._take_body(c.message_id) end),
                            'UTF8') end,
                        case when not c.is_text then coalesce(c.body,
                            case when hold then howdah._body(c.message_id)
                                else howdah._take_body(c.message_id) end) end, c.content_type, c.headers, 9 - c.rank,
                                    c.correlation_id,
                        c.reply_to, c.message_type, c.conversation_id,
                        case when c.nonpersistent then 'non-persistent' else 'persistent' end, c.sent_at, c.expires_at,
                        c.failures + 1, c.failures > 0, c.seq, c.stage::integer,
                        case when c.origin_id is not null then howdah._destination_name(c.origin_id) end,
                        c.dead_reason, c.dead_at
                    from claimed c
                    where case when c.held_up then howdah._put_back(howdah._as_ready(c.claim), c.nonpersistent, hold)
                        else not c.ended or howdah._dispose(v_id, howdah._as_ready(c.claim), c.nonpersistent,
                            case when hold then c.place end, v_now) end
                    order by c.number;
                end if;
                get diagnostics v_taken = row_count;
                v_left := v_left - v_taken;
                exit when v_left <= 0;
            end loop;
            -- A disposed message used up a slot, and another message may lie in this lane; look here again before the
            -- lanes of lower priority. The same holds for a message whose group was one too many; howdah._claim_groups
            -- always allows 16 groups.
            exit when v_left <= 0 or current_setting('howdah.disposed', true) = 'yes' or v_walk.groups = 'alone'
                and v_taken >= 16;
        end loop;
        -- Another round would meet held rows again, because SKIP LOCKED does not skip our own locks.
        if v_left <= 0 or hold and v_left < max_messages then
            return;
        elsif current_setting('howdah.disposed', true) = 'yes' then
            perform set_config('howdah.disposed', '', true);
            -- If something was delivered, go on and not back: what came back before that is for the next call.
            v_again := case when v_left < max_messages and not v_one_by_one then v_lane.rank end;
        elsif v_everywhere or v_left < max_messages then
            return;
        else
            v_everywhere := true;
        end if;
    end loop;
end
$$;
