-- howdah._receive_other(p_name, p_want, p_hold, p_plain, p_consumer): receive from a destination that is no queue; the body of howdah.receive for subscriptions.
--
-- Returns  up to p_want rows of howdah.message: first what was set aside and is due again, then what its topics have for it.
-- Raises   HD005 it is a topic; HD009, HD016 as howdah.receive; HD024 an unshared subscription is somebody else's: being read,
--          leased, or with an open consumer; HD025 a restored database; HD032 the consumer is not open.
-- Role     internal
--
-- The usual subscriber, alone at one topic all of which it takes, with nothing failed or set aside, and with persistent or non-persistent messages alone,
-- is served here, from the table into the result: each table by its own name, for a statement locks what it names. All others: howdah._receive_published. p_plain: nothing was ever leased from it, nor a consumer opened, so there is none to be asked for.
create or replace function howdah._receive_other(p_name text, p_want integer, p_hold boolean, p_plain boolean, p_consumer bigint) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_name, 'receive');
    v_look record;
    v_taken integer;
    v_at record;
    v_now timestamptz := howdah.now();
    v_upto pg_snapshot;
    v_from xid8;
    v_from_seq bigint := -1;
    v_to xid8;
    v_done pg_snapshot;
    v_journaled boolean := v_destination.journal_level <> 'off';
    v_nonpersistent boolean;
    v_last xid8;
    v_ids bigint[];
    v_total bigint := 0;
    v_ring bigint;
    v_topic text;  -- for each row of the result: a record's field takes longer
    v_topic_id integer;
begin
    if v_destination.kind = 'topic' then
        raise exception using errcode = 'HD005', message = format('%s is a topic', quote_literal(p_name)),
            hint = 'Subscribe to it with howdah.subscribe(topic, name) and receive from the name that returns.';
    elsif v_destination.receiving_paused then
        perform howdah._check_disabled(v_destination.id);
        raise exception using errcode = 'HD009', message = format('subscription %s is paused', quote_literal(p_name)),
            hint = 'An administrator resumes it with howdah.resume(subscription).';
    end if;
    select s as subscription, s.shared, s.alive, howdah._is_wildcard(s.topic) as wild,
        not (s.shared or s.prioritized or s.no_local or p_hold or howdah._has_old_snapshot()) and s.selector_sql is null
            and pg_sequence_last_value(v_destination.failing) is null as plain,
        r.truncations = howdah._truncations() and r.generation = howdah._generation() as settled,
        pg_sequence_last_value('howdah.topic_checked'::regclass) = howdah._boot_ms() as checked,
        howdah._silent_ms(s.alive) < 1000 as noted
    into v_look
    from howdah.subscriptions s
    cross join (select max(g.truncations) as truncations, max(g.generation) filter (where g.state = 'open') as generation from howdah.topic_ring g) r
    where s.destination_id = v_destination.id;
    if v_look.checked is not true then
        perform howdah._check_cluster();
    end if;
    if v_look.settled is not true then
        perform howdah._settle_ring();
    end if;
    if v_look.noted is not true then
        perform howdah._note_alive(v_look.alive);
    end if;
    if v_look.shared then
        perform pg_advisory_xact_lock_shared(1213154375, v_destination.id);  -- who reads it stands in the way of who would change it
        if p_consumer is not null then
            perform howdah._check_reader(v_destination, p_consumer);
        end if;
    elsif not pg_try_advisory_xact_lock(1213154375, v_destination.id) then
        raise exception using errcode = 'HD024', message = format('subscription %s is being read by another consumer', quote_literal(p_name)),
            hint = 'An unshared subscription has one active consumer; subscribe with shared => true for several.';
    elsif not p_plain or p_consumer is not null then
        perform howdah._check_reader(v_destination, p_consumer);
    end if;
    if v_look.plain then
        v_ring := howdah._truncations();
        v_upto := howdah._snapshot();  -- what reads begins after this
        select a.destination_id as topic_id, d.name as topic, c.xid, c.seq, c.cursor, (c.cursor).snapshot as done, null::xid8 as late, array[]::integer[] as slots
        into v_at
        from howdah.acks a
        join howdah.destinations d on d.id = a.destination_id
        cross join lateral (select s.xid, s.seq, s as cursor from howdah.ack_cursors s where s.ack_id = a.id order by s.n desc limit 1) c
        where a.subscription_id = v_destination.id and (not v_look.wild or howdah._may(a.destination_id, 'receive'))
          and not exists (select from howdah.acks o where o.subscription_id = v_destination.id and o.id <> a.id)
          and not exists (select from howdah.acked o where o.ack_id = a.id)
          and not exists (select from howdah.msgs o where o.destination_id = v_destination.id)
          and not exists (select from howdah.msgs_nonpersistent o where o.destination_id = v_destination.id)
          and not exists (select from howdah.parked o where o.destination_id = v_destination.id and o.due_at <= v_now);
        if found then
            if v_at.seq >= 0 then
                v_at.done := howdah._whole(v_at.cursor);
            end if;
            if pg_snapshot_xmin(v_at.done) < pg_snapshot_xmax(v_at.done) then
                select s.xid into v_at.late from pg_snapshot_xip(v_at.done) s(xid) where pg_visible_in_snapshot(s.xid, v_upto) order by s.xid limit 1;
            end if;
            v_from := least(case when v_at.seq >= 0 then v_at.xid end, v_at.late, pg_snapshot_xmax(v_at.done));
            v_at.slots := howdah._slots_from(v_from);
            -- Where a very old transaction has ended, the way from its number on may be long.
            if cardinality(v_at.slots) = 1
               and (pg_snapshot_xmax(v_at.done)::text::bigint - v_at.late::text::bigint > 100000) is not true then
                v_topic := v_at.topic;
                v_topic_id := v_at.topic_id;
                v_nonpersistent := howdah._is_nonpersistent(v_at.slots[1], v_topic_id, v_from);
            end if;
        end if;
    end if;
    if v_nonpersistent is not null then
        -- First the rest of the transaction that is passed in part, if there is one; then what is new. What committed late is among it, by its
        -- number, which is lower than those of all that was begun since the cursor's snapshot.
        for v_way in case when v_at.seq >= 0 then 1 else 2 end..2 loop
            if v_way = 1 then
                v_from := v_at.xid;
                v_from_seq := v_at.seq;
                v_to := v_at.xid;
            else
                v_from := coalesce(v_at.late, pg_snapshot_xmax(v_at.done));
                v_from_seq := -1;
                v_to := pg_snapshot_xmax(v_upto);
                v_done := case when v_at.late is not null then v_at.done end;
            end if;
            if v_at.slots = array[0] and not v_nonpersistent then
                return query select * from howdah._stream_persistent_0(
                    p_name, v_topic, v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want);
                get diagnostics v_taken = row_count;
                select max(k.xid), array_agg(k.seq * 1000000 + v_topic_id) into v_last, v_ids
                from howdah._persistent_0(v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            elsif v_at.slots = array[0] and v_nonpersistent then
                return query select * from howdah._stream_nonpersistent_0(
                    p_name, v_topic, v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want);
                get diagnostics v_taken = row_count;
                select max(k.xid), array_agg(k.seq * 1000000 + v_topic_id) into v_last, v_ids
                from howdah._nonpersistent_0(v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            elsif v_at.slots = array[1] and not v_nonpersistent then
                return query select * from howdah._stream_persistent_1(
                    p_name, v_topic, v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want);
                get diagnostics v_taken = row_count;
                select max(k.xid), array_agg(k.seq * 1000000 + v_topic_id) into v_last, v_ids
                from howdah._persistent_1(v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            elsif v_at.slots = array[1] and v_nonpersistent then
                return query select * from howdah._stream_nonpersistent_1(
                    p_name, v_topic, v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want);
                get diagnostics v_taken = row_count;
                select max(k.xid), array_agg(k.seq * 1000000 + v_topic_id) into v_last, v_ids
                from howdah._nonpersistent_1(v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            elsif v_at.slots = array[2] and not v_nonpersistent then
                return query select * from howdah._stream_persistent_2(
                    p_name, v_topic, v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want);
                get diagnostics v_taken = row_count;
                select max(k.xid), array_agg(k.seq * 1000000 + v_topic_id) into v_last, v_ids
                from howdah._persistent_2(v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            elsif v_at.slots = array[2] and v_nonpersistent then
                return query select * from howdah._stream_nonpersistent_2(
                    p_name, v_topic, v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want);
                get diagnostics v_taken = row_count;
                select max(k.xid), array_agg(k.seq * 1000000 + v_topic_id) into v_last, v_ids
                from howdah._nonpersistent_2(v_topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            end if;
            v_total := v_total + v_taken;
            if v_journaled and v_taken > 0 then
                insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids)
                values (v_now, v_destination.id, v_nonpersistent, 'consumed', v_ids);
            end if;
            if v_taken = p_want then
                perform howdah._same_ring(v_ring);
                perform howdah._move_cursor(v_at.cursor, v_last, v_ids[v_taken] / 1000000, v_total,
                    case when v_way = 1 then (v_at.cursor).snapshot else howdah._cut(v_at.done, v_upto, v_last) end);
                return;
            end if;
            p_want := p_want - v_taken;
        end loop;
        -- At the end. An idle reader writes where it would otherwise walk over what it has passed again and again.
        perform howdah._same_ring(v_ring);
        if v_total > 0 or v_at.seq >= 0 or pg_snapshot_xmax(v_at.done)::text::bigint - v_at.late::text::bigint > 1000 then
            perform howdah._move_cursor(v_at.cursor, '3', -1, v_total, v_upto);
        end if;
        return;
    end if;
    if p_plain and p_consumer is null and not v_look.shared and pg_sequence_last_value(v_destination.special) is not null then
        perform howdah._check_reader(v_destination, null);  -- the first lease, or consumer, came before the lock
    end if;
    return query select * from howdah._receive_published(v_destination, v_look.subscription, p_name, p_want, p_hold);
end
$$;

-- howdah._is_nonpersistent(p_slot, p_topic, p_from): what a topic has in the tables of one number, from a transaction on.
--
-- Returns  boolean: true: nothing but non-persistent messages; false: nothing but persistent ones, or none; NULL: both.
-- Role     internal
create or replace function howdah._is_nonpersistent(p_slot integer, p_topic integer, p_from xid8) returns boolean
language plpgsql volatile
as $$
declare
    v_persistent boolean;
    v_nonpersistent boolean;
begin
    if p_slot = 0 then
        v_nonpersistent := exists (select from howdah.topic_nonpersistent_0 t where t.destination_id = p_topic and t.xid >= p_from);
        v_persistent := v_nonpersistent and exists (select from howdah.topic_msgs_0 t where t.destination_id = p_topic and t.xid >= p_from);
    elsif p_slot = 1 then
        v_nonpersistent := exists (select from howdah.topic_nonpersistent_1 t where t.destination_id = p_topic and t.xid >= p_from);
        v_persistent := v_nonpersistent and exists (select from howdah.topic_msgs_1 t where t.destination_id = p_topic and t.xid >= p_from);
    elsif p_slot = 2 then
        v_nonpersistent := exists (select from howdah.topic_nonpersistent_2 t where t.destination_id = p_topic and t.xid >= p_from);
        v_persistent := v_nonpersistent and exists (select from howdah.topic_msgs_2 t where t.destination_id = p_topic and t.xid >= p_from);
    end if;
    return case when not v_persistent or not v_nonpersistent then v_nonpersistent end;
end
$$;
