-- howdah.receive(queue, max_messages, hold, selector, consumer): take messages; COMMIT consumes them, ROLLBACK puts
-- them back in their place.
--
-- Returns  up to max_messages rows of howdah.message, by priority. Within a priority, parked messages that are due come
--          first, then non-persistent messages, then persistent ones, each by position. No row if the queue has none to
--          give. queue may name a subscription (howdah.subscribe): its messages come in the order in which the topic
--          was read, and origin_queue is the topic. A shared subscription gives at most four times
--          max_locks_per_transaction (256).
-- Raises   HD001 no such queue, or no queue matches; HD003 the wildcard is invalid; HD005 max_messages is not 1 to
--          10000, queue is a topic, or a limit of concurrency needs READ COMMITTED; HD009 receiving is paused; HD010
--          not allowed; HD016 failures in a row disabled the queue; HD019 the queue is hardened; HD023 the selector
--          is invalid; HD024 somebody else reads or leases an unshared subscription, or has an open consumer of it;
--          HD025 a restored database (howdah.rebase_topics); HD032 the consumer is not open, or the queue needs one;
--          HD040 the engine is paused, quiesced or stopped; HD002, HD004, HD027 the missing queue cannot create
--          itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 the transformation cannot be
--          called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- Messages that other transactions are receiving are skipped. Expired messages are discarded. A message whose recorded
-- failures have reached the queue's limit is not delivered; the queue's policy disposes of it.
--
-- hold: as howdah.receive_locked; NULL: false. selector: receive only the messages that it selects
-- (docs/selectors.md); the others stay where they are. consumer: the number from howdah.open_consumer, where a queue
-- tells its consumers apart. queue: it may be a wildcard, JOBS.* or JOBS.>, for all matching queues that the caller may
-- receive from.
--
-- It does not wait. An empty result means that this call found nothing. If a rollback returned a message far behind the
-- place where others receive, several more calls may be needed to find it. How long that takes stands in
-- docs/decisions/0006-the-claim-path.md.
--
-- The first part serves the usual calls: above all, messages from the main lane. It has as few expressions as possible,
-- because PostgreSQL prepares each of them anew in every transaction; what a queue is like, howdah._derive keeps ready.
-- The settings make the statements walk the key: sessions keep plans that they made while the queue was short. Why it
-- misses nothing stands in docs/decisions/0006, too.
--
-- v_queue.usual is how many messages a usual call wants. It is 0 for a call that holds, selects or has a consumer, and
-- for topics. It is NULL for rare kinds, and for what howdah._receive_otherwise refuses.
create or replace function howdah.receive(
    queue text, max_messages integer default 1, hold boolean default false, selector text default null,
    consumer bigint default null
) returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_queue record;
    v_message howdah.msgs;
    v_nonpersistent boolean := false;
    v_lane record;
    v_seq bigint;
    v_clear boolean := true;
    v_taken integer := 0;
begin
    select d.id, d.is_queue, d.failing, d.head, d.main_rank, d.dispose_at as most,
        d.journaled, coalesce(pg_sequence_last_value(d.head), 0) as headed,
        pg_sequence_last_value(d.positions) - 64 - coalesce(pg_sequence_last_value(d.head), 0) as ahead,
        pg_sequence_last_value(d.special) is null as plain, d.limited,
        d.grouped, d.search, coalesce(pg_sequence_last_value(d.search), 0) as hint,
        howdah._is_due(pg_sequence_last_value(d.search), howdah._pace(clock_timestamp())) as due,
        case when hold is not null and max_messages between 1 and 10000 and d.usual_receive
            and (current_setting('howdah.commit_by_reliability', true) <> '') is not true
            and (not d.is_queue or howdah._has_role(d.receivers[1])
                or howdah._has_right(d.id, 'receive', d.receivers))
            then case when d.is_queue and not hold and selector is null and consumer is null
                then max_messages else 0 end end as usual
    into v_queue
    from howdah.destinations d where d.name = queue and d.dropped_at is null;
    if not v_queue.plain then
        v_queue.plain := v_queue.usual > 0 and v_queue.usual <= greatest(v_queue.ahead, 1) and not v_queue.grouped
            and howdah._is_plain(v_queue.id);
    end if;
    if v_queue.plain and v_queue.usual = 1 then
        -- As howdah._draw_next, whose call would cost 7 us. Most often what came back was taken last.
        if v_queue.ahead > 0 and not v_queue.due then
            perform from howdah.msgs m
            where m.destination_id = v_queue.id and m.rank = v_queue.main_rank and m.seq = v_queue.headed
              and m.xmax <> 0
            for update skip locked;
            v_clear := not found;
        elsif v_queue.due then
            v_clear := howdah._nothing_came_back(v_queue.id, v_queue.main_rank, v_queue.headed,
                v_queue.ahead > 0, v_queue.search, v_queue.hint);
        end if;
        if v_clear and v_queue.ahead > 0 then
            delete from howdah.msgs m
            where m.destination_id = v_queue.id and m.rank = v_queue.main_rank
              and m.seq = (select nextval(v_queue.head)) and m.xmax = 0
            returning m.* into v_message;
        elsif v_clear then
            select m.seq into v_seq from howdah.msgs m
            where m.destination_id = v_queue.id and m.rank = v_queue.main_rank and m.seq > v_queue.headed - 16
            order by m.seq limit 1 for update skip locked;
            if v_seq > v_queue.headed and howdah._advance(v_queue.head, v_seq) then
                delete from howdah.msgs m
                where m.destination_id = v_queue.id and m.rank = v_queue.main_rank and m.seq = v_seq
                returning m.* into v_message;
            end if;
        end if;
    elsif v_queue.plain and v_queue.usual > 1 and v_queue.usual <= v_queue.ahead then
        if pg_sequence_last_value(v_queue.failing) is null then
            return query select * from howdah._take_drawn(v_queue.id, v_queue.main_rank, queue,
                howdah._draw_next(row(0, v_queue.id, v_queue.main_rank, 2, v_queue.head, v_queue.search)::howdah.lanes,
                    max_messages),
                howdah.now(), false, v_queue.journaled);
            get diagnostics v_taken = row_count;
            if v_taken = max_messages then
                return;
            end if;
        end if;
    elsif v_queue.usual = 1 and v_queue.grouped and not v_queue.due then
        v_message := howdah._take_one_of_group(v_queue.id, v_queue.main_rank, v_queue.head, v_queue.headed);
    elsif v_queue.usual = 1 and not v_queue.grouped and not v_queue.limited then
        select t.message, t.nonpersistent into v_lane from howdah._take_by_lane(v_queue.id) t;
        v_message := v_lane.message;
        v_nonpersistent := v_lane.nonpersistent;
    end if;
    if v_message.seq is not null and not v_nonpersistent and (v_message.expires_at > howdah.now()) is not false
       and (pg_sequence_last_value(v_queue.failing) is null
            or howdah._is_unblamed(v_message.message_id, v_message.headers, v_message.conversation_id))
       then
        if v_queue.journaled then
            insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
            values (howdah.now(), v_queue.id, 'consumed', array[v_message.message_id], v_message.sent_at);
        end if;
        if v_message.body is null then
            v_message.body := howdah._take_body(v_message.message_id);
        end if;
        return next row(v_message.message_id, queue,
            FIRST_DELIVERY_OF v_message
        )::howdah.message;
        return;
    elsif v_message.seq is not null then
        return query select * from howdah._deliver(v_queue.id, v_message, v_nonpersistent, howdah.now(),
            v_queue.most, v_queue.journaled, pg_sequence_last_value(v_queue.failing) is not null);
        if found then
            return;
        end if;
    end if;

    if v_queue.usual is null or v_queue.limited then
        return query select * from howdah._receive_otherwise(queue, max_messages, hold, selector, consumer);
    elsif v_queue.is_queue then
        return query select * from howdah._receive_by_lane(v_queue.id, queue, max_messages - v_taken, hold, selector,
            consumer, v_taken > 0);
    else
        return query select * from howdah._receive_stream(queue, max_messages, hold, selector, consumer,
            v_queue.plain);
    end if;
end
$$;
