-- howdah._receive_other(p_name, p_want, p_hold): receive from a destination that is no queue.
--
-- Returns  as howdah.receive.
-- Raises   HD005 it is a topic.
-- Role     internal
create or replace function howdah._receive_other(p_name text, p_want integer, p_hold boolean) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_name, 'receive');
begin
    if v_destination.kind = 'topic' then
        raise exception using errcode = 'HD005', message = format('%s is a topic', quote_literal(p_name)),
            hint = 'Subscribe to it with howdah.subscribe(topic, name) and receive from the name that returns.';
    end if;
    return query select * from howdah._receive_subscription(v_destination, p_name, p_want, p_hold);
end
$$;

-- howdah._receive_subscription(p_subscription, p_name, p_want, p_hold): receive as a subscriber; the body of howdah.receive for subscriptions.
--
-- Returns  up to p_want rows of howdah.message: first what was set aside and is due again, then what its topics have for it.
-- Raises   HD005 a shared one and an old snapshot; HD009, HD016 as howdah.receive; HD024 an unshared subscription is being read by somebody else; HD025 a restored database.
-- Role     internal
create or replace function howdah._receive_subscription(p_subscription howdah.destinations, p_name text, p_want integer, p_hold boolean)
returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
    v_taken integer;
begin
    if p_subscription.receiving_paused then
        perform howdah._check_disabled(p_subscription.id);
        raise exception using errcode = 'HD009', message = format('subscription %s is paused', quote_literal(p_name)),
            hint = 'An administrator resumes it with howdah.resume(subscription).';
    end if;
    perform howdah._check_cluster();
    perform howdah._settle_ring();
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_subscription.id;
    perform howdah._note_alive(v_subscription.alive);
    if v_subscription.shared then
        if current_setting('transaction_isolation') <> 'read committed' then
            raise exception using errcode = 'HD005', message = format('shared subscription %s cannot be read in a %s transaction',
                quote_literal(p_name), current_setting('transaction_isolation')),
                hint = 'Read it in READ COMMITTED: an old snapshot does not show what other consumers have taken.';
        end if;
        perform pg_advisory_xact_lock_shared(1213154375, p_subscription.id);  -- who reads it stands in the way of who would change it
    elsif not pg_try_advisory_xact_lock(1213154375, p_subscription.id) then
        raise exception using errcode = 'HD024', message = format('subscription %s is being read by another consumer', quote_literal(p_name)),
            hint = 'An unshared subscription has one active consumer; subscribe with shared => true for several.';
    end if;
    return query select * from howdah._receive_set_aside(p_subscription, p_name, p_want, p_hold);
    get diagnostics v_taken = row_count;
    p_want := p_want - v_taken;
    for v_ack in
        select a.* from howdah.acks a where a.subscription_id = p_subscription.id order by a.priority desc, a.destination_id
    loop
        exit when p_want <= 0;
        if v_subscription.shared or p_hold then
            return query select * from howdah._claim_published(p_subscription, v_subscription, v_ack, p_name, p_want, p_hold);
        else
            return query select * from howdah._read_published(p_subscription, v_subscription, v_ack, p_name, p_want);
        end if;
        get diagnostics v_taken = row_count;
        p_want := p_want - v_taken;
    end loop;
end
$$;

-- howdah._read_published(p_destination, p_subscription, p_ack, p_name, p_want): take the next messages of a topic and move the cursor over them.
--
-- Returns  up to p_want rows of howdah.message, in reading order.
-- Role     internal
--
-- The caller has locked the subscription. What it does not want, what has expired and what reached its limit is passed over. With a
-- filter a page may hold nothing that is wanted, so it is no smaller than a thousand.
create or replace function howdah._read_published(
    p_destination howdah.destinations, p_subscription howdah.subscriptions, p_ack howdah.acks, p_name text, p_want integer
) returns setof howdah.message
language plpgsql volatile
    set plan_cache_mode = force_generic_plan
as $$
declare
    v_cursor howdah.ack_cursors := howdah._cursor(p_ack.id);
    v_upto pg_snapshot := pg_current_snapshot();
    v_now timestamptz := howdah.now();
    v_topic text := howdah._name(p_ack.destination_id);
    v_failing boolean := pg_sequence_last_value(p_destination.failing) is not null;
    v_least integer := case when p_subscription.selector_sql is null and not p_subscription.prioritized then 1 else 1000 end;
    v_noted boolean := exists (select from howdah.acked a where a.ack_id = p_ack.id);
    v_segment record;
    v_taken integer;
    v_last howdah.ack_cursors;
begin
    for v_segment in select * from howdah._segments(v_cursor, p_ack.destination_id, v_upto) loop
        loop
            return query
            with page as materialized (
                select p.* from howdah._page(p_subscription, p_ack, v_segment.slots, v_segment.from_xid, v_segment.from_seq,
                    v_segment.to_xid, v_upto, greatest(p_want, v_least)) p
            ), taken as materialized (
                select p.* from page p where p.wanted and not p.done limit p_want
            ), step as (
                -- As far as what is taken goes, or over the page; at the end of it all, up to the snapshot.
                insert into howdah.ack_cursors (ack_id, n, xid, seq, delivered, at, snapshot)
                select p_ack.id, v_cursor.n + 1, case when e.ended then '3' else l.xid end, case when e.ended then -1 else l.seq end,
                    v_cursor.delivered + e.taken
                        + case when v_noted then (select count(*) from page p where p.done and (p.xid, p.seq) <= (l.xid, l.seq)) else 0 end,
                    v_now,
                    case when e.ended then v_upto else howdah._cut(v_cursor.snapshot, v_upto, l.xid) end
                from (
                    select c.taken, c.taken = p_want as filled,
                        c.taken < p_want and c.seen < greatest(p_want, v_least) and v_segment.to_xid = pg_snapshot_xmax(v_upto) as ended
                    from (select (select count(*) from taken) as taken, (select count(*) from page) as seen) c
                ) e
                cross join lateral (
                    (select t.xid, t.seq from taken t where e.filled order by t.xid desc, t.seq desc limit 1)
                    union all
                    (select p.xid, p.seq from page p where not e.filled order by p.xid desc, p.seq desc limit 1)
                ) l
                on conflict do nothing
            ), failed as materialized (
                select f.*
                from (select array_agg(t.message_id) as ids, array_agg(0::smallint) as stages, array_agg(t.conversation_id) as conversations
                      from taken t) a
                cross join lateral howdah._count_failures(p_destination.id, a.ids, a.stages, a.conversations) f
                where v_failing and cardinality(a.ids) > 0
            ), counted as materialized (
                select t.*, coalesce(f.failures, 0) as failures, coalesce(f.weight, 0) >= p_destination.dispose_at as ended
                from taken t left join failed f on f.message_id = t.message_id and f.stage = 0
            ), journaled as (
                insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids)
                select v_now, p_destination.id, c.nonpersistent, 'consumed', array_agg(c.message_id)
                from counted c where not c.ended and p_destination.journal_level <> 'off'
                group by c.nonpersistent
            )
            select c.message_id, p_name, case when c.is_text then convert_from(c.body, 'UTF8') end,
                case when not c.is_text then c.body end, c.content_type, c.headers, 9 - c.rank, c.correlation_id, c.reply_to,
                c.message_type, c.conversation_id, case when c.nonpersistent then 'non-persistent' else 'persistent' end, c.sent_at,
                c.expires_at, c.failures + 1, c.failures > 0, c.seq, 0, v_topic, null::text, null::timestamptz
            from counted c
            where not c.ended or howdah._bury_published(p_destination, c.message_id, c.sent_at, c.expires_at, c.rank, c.is_text,
                c.content_type, c.body, c.headers, c.correlation_id, c.reply_to, c.message_type, c.conversation_id, c.nonpersistent);
            get diagnostics v_taken = row_count;
            p_want := p_want - v_taken;
            v_last := howdah._cursor(p_ack.id);
            exit when v_last.n = v_cursor.n;
            v_cursor := v_last;
            exit when p_want <= 0 or v_cursor.seq < 0;
            v_segment.from_xid := v_cursor.xid;
            v_segment.from_seq := v_cursor.seq;
        end loop;
        exit when p_want <= 0;
    end loop;
    -- An idle reader writes where it would otherwise read a closed table again and again.
    if p_want > 0 and (v_cursor.seq >= 0 or cardinality(howdah._slots_from(pg_snapshot_xmax(v_cursor.snapshot))) > 1) then
        v_cursor := howdah._move_cursor(v_cursor, '3', -1, 0, v_upto);
    end if;
    delete from howdah.acked a where a.ack_id = p_ack.id and howdah._is_passed(v_cursor, a.xid, a.seq);
end
$$;

-- howdah._claim_published(p_destination, p_subscription, p_ack, p_name, p_want, p_hold): take or hold messages of a topic one by one, beside other consumers.
--
-- Returns  up to p_want rows of howdah.message, in reading order.
-- Role     internal
--
-- Each is locked by an advisory lock until the transaction ends, then looked at again: whoever had it before may have finished with
-- it meanwhile. Two messages may share a lock: then the second is passed by until the first one's transaction ends.
create or replace function howdah._claim_published(
    p_destination howdah.destinations, p_subscription howdah.subscriptions, p_ack howdah.acks, p_name text, p_want integer, p_hold boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_cursor howdah.ack_cursors := howdah._cursor(p_ack.id);
    v_upto pg_snapshot := pg_current_snapshot();
    v_topic text := howdah._name(p_ack.destination_id);
    v_failing boolean := pg_sequence_last_value(p_destination.failing) is not null;
    v_segment record;
    v_row record;
    v_rows integer;
    v_passed integer := 0;
    v_failures integer;
    v_weight integer;
    v_seqs bigint[] := '{}';
    v_xids xid8[] := '{}';
    v_modes boolean[] := '{}';
begin
    <<segments>>
    for v_segment in select * from howdah._segments(v_cursor, p_ack.destination_id, v_upto) loop
        loop
            v_rows := 0;
            for v_row in
                select p.* from howdah._page(p_subscription, p_ack, v_segment.slots, v_segment.from_xid, v_segment.from_seq,
                    v_segment.to_xid, v_upto, greatest(p_want * 2, 200)) p
            loop
                v_rows := v_rows + 1;
                v_segment.from_xid := v_row.xid;
                v_segment.from_seq := v_row.seq;
                if not v_row.wanted or v_row.done then
                    v_passed := v_passed + 1;
                    continue;
                elsif p_subscription.shared then
                    continue when not pg_try_advisory_xact_lock(1213154376, hashint8(v_row.message_id * 1000003 # p_ack.id));
                    continue when exists (select from howdah.acked a where a.ack_id = p_ack.id and a.seq = v_row.seq)
                        or howdah._is_passed(howdah._cursor(p_ack.id), v_row.xid, v_row.seq);
                end if;
                v_failures := 0;
                if v_failing then
                    select coalesce(max(f.failures), 0), coalesce(max(f.weight), 0) into v_failures, v_weight
                    from howdah._count_failures(p_destination.id, array[v_row.message_id], array[0::smallint], array[v_row.conversation_id]) f
                    where f.stage = 0;
                    if v_weight >= p_destination.dispose_at then
                        insert into howdah.acked (ack_id, seq, xid) values (p_ack.id, v_row.seq, v_row.xid);
                        perform howdah._bury_published(p_destination, v_row.message_id, v_row.sent_at, v_row.expires_at, v_row.rank,
                            v_row.is_text, v_row.content_type, v_row.body, v_row.headers, v_row.correlation_id, v_row.reply_to,
                            v_row.message_type, v_row.conversation_id, v_row.nonpersistent);
                        continue;
                    end if;
                end if;
                v_seqs := v_seqs || v_row.seq;
                v_xids := v_xids || v_row.xid;
                v_modes := v_modes || v_row.nonpersistent;
                return next row(v_row.message_id, p_name, case when v_row.is_text then convert_from(v_row.body, 'UTF8') end,
                    case when not v_row.is_text then v_row.body end, v_row.content_type, v_row.headers, 9 - v_row.rank, v_row.correlation_id,
                    v_row.reply_to, v_row.message_type, v_row.conversation_id,
                    case when v_row.nonpersistent then 'non-persistent' else 'persistent' end, v_row.sent_at, v_row.expires_at,
                    v_failures + 1, v_failures > 0, v_row.seq, 0, v_topic, null, null)::howdah.message;
                exit segments when cardinality(v_seqs) = p_want;
            end loop;
            exit when v_rows < greatest(p_want * 2, 200);
        end loop;
    end loop;
    if not p_hold and cardinality(v_seqs) > 0 then
        perform howdah._acknowledge(p_destination, p_ack, v_seqs, v_xids, v_modes);
    end if;
    if not p_hold and (v_passed > 64 or v_passed > 0 and cardinality(v_seqs) < p_want) then
        perform howdah._fold(p_subscription, p_ack);
    end if;
end
$$;

-- howdah._acknowledge(p_destination, p_ack, p_seqs, p_xids, p_nonpersistent): note messages as consumed out of order.
--
-- Role     internal
create or replace function howdah._acknowledge(
    p_destination howdah.destinations, p_ack howdah.acks, p_seqs bigint[], p_xids xid8[], p_nonpersistent boolean[]
) returns void
language plpgsql volatile
as $$
begin
    insert into howdah.acked (ack_id, seq, xid) select p_ack.id, u.seq, u.xid from unnest(p_seqs, p_xids) u(seq, xid);
    perform howdah._journal(p_destination, 'consumed', array_agg(u.seq * 1000000 + p_ack.destination_id), u.nonpersistent)
    from unnest(p_seqs, p_nonpersistent) u(seq, nonpersistent)
    group by u.nonpersistent;
end
$$;
