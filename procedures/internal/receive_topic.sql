-- howdah._receive_other(p_name, p_want, p_hold): receive from a destination that is no queue; the body of howdah.receive for subscriptions.
--
-- Returns  up to p_want rows of howdah.message: first what was set aside and is due again, then what its topics have for it.
-- Raises   HD005 it is a topic; HD009, HD016 as howdah.receive; HD024 an unshared subscription is being read by somebody else; HD025 a
--          restored database.
-- Role     internal
--
-- The usual subscriber, alone at one topic all of which it takes, with nothing failed or set aside,
-- is served here, from the table into the result.
create or replace function howdah._receive_other(p_name text, p_want integer, p_hold boolean) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_name, 'receive');
    v_look record;
    v_ack howdah.acks;
    v_taken integer;
    v_at record;
    v_now timestamptz := howdah.now();
    v_upto pg_snapshot;
    v_from xid8;
    v_from_seq bigint := -1;
    v_to xid8;
    v_done pg_snapshot;
    v_journaled boolean := v_destination.journal_level <> 'off';
    v_xids xid8[];
    v_ids bigint[];
    v_volatile bigint[];
    v_total bigint := 0;
    v_usual boolean := false;
    v_ring bigint;
begin
    if v_destination.kind = 'topic' then
        raise exception using errcode = 'HD005', message = format('%s is a topic', quote_literal(p_name)),
            hint = 'Subscribe to it with howdah.subscribe(topic, name) and receive from the name that returns.';
    elsif v_destination.receiving_paused then
        perform howdah._check_disabled(v_destination.id);
        raise exception using errcode = 'HD009', message = format('subscription %s is paused', quote_literal(p_name)),
            hint = 'An administrator resumes it with howdah.resume(subscription).';
    end if;
    select s as subscription, s.shared, s.alive,
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
    elsif not pg_try_advisory_xact_lock(1213154375, v_destination.id) then
        raise exception using errcode = 'HD024', message = format('subscription %s is being read by another consumer', quote_literal(p_name)),
            hint = 'An unshared subscription has one active consumer; subscribe with shared => true for several.';
    end if;
    if v_look.plain then
        v_ring := howdah._truncations();
        v_upto := howdah._snapshot();  -- what reads begins after this
        select a.destination_id as topic_id, d.name as topic, c.xid, c.seq, c.cursor, (c.cursor).snapshot as done, null::xid8 as late, array[]::integer[] as slots
        into v_at
        from howdah.acks a
        join howdah.destinations d on d.id = a.destination_id
        cross join lateral (select s.xid, s.seq, s as cursor from howdah.ack_cursors s where s.ack_id = a.id order by s.n desc limit 1) c
        where a.subscription_id = v_destination.id
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
            v_usual := cardinality(v_at.slots) = 1
                and (pg_snapshot_xmax(v_at.done)::text::bigint - v_at.late::text::bigint > 100000) is not true;
        end if;
    end if;
    if v_usual then
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
            if v_at.slots = array[0] then
                return query
                select r.seq * 1000000 + r.destination_id, p_name, case when r.is_text then convert_from(r.body, 'UTF8') end,
                    case when not r.is_text then r.body end, r.content_type, r.headers, 9 - r.rank, r.correlation_id, r.reply_to, r.message_type,
                    r.conversation_id, case when r.nonpersistent then 'non-persistent' else 'persistent' end, r.sent_at, r.expires_at,
                    1, false, r.seq, 0, v_at.topic, null::text, null::timestamptz
                from howdah._rows_0(v_at.topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) r;
                get diagnostics v_taken = row_count;
                select array_agg(k.xid), array_agg(k.seq * 1000000 + v_at.topic_id), array_agg(k.seq * 1000000 + v_at.topic_id) filter (where k.nonpersistent)
                into v_xids, v_ids, v_volatile
                from howdah._keys_0(v_at.topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            elsif v_at.slots = array[1] then
                return query
                select r.seq * 1000000 + r.destination_id, p_name, case when r.is_text then convert_from(r.body, 'UTF8') end,
                    case when not r.is_text then r.body end, r.content_type, r.headers, 9 - r.rank, r.correlation_id, r.reply_to, r.message_type,
                    r.conversation_id, case when r.nonpersistent then 'non-persistent' else 'persistent' end, r.sent_at, r.expires_at,
                    1, false, r.seq, 0, v_at.topic, null::text, null::timestamptz
                from howdah._rows_1(v_at.topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) r;
                get diagnostics v_taken = row_count;
                select array_agg(k.xid), array_agg(k.seq * 1000000 + v_at.topic_id), array_agg(k.seq * 1000000 + v_at.topic_id) filter (where k.nonpersistent)
                into v_xids, v_ids, v_volatile
                from howdah._keys_1(v_at.topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            elsif v_at.slots = array[2] then
                return query
                select r.seq * 1000000 + r.destination_id, p_name, case when r.is_text then convert_from(r.body, 'UTF8') end,
                    case when not r.is_text then r.body end, r.content_type, r.headers, 9 - r.rank, r.correlation_id, r.reply_to, r.message_type,
                    r.conversation_id, case when r.nonpersistent then 'non-persistent' else 'persistent' end, r.sent_at, r.expires_at,
                    1, false, r.seq, 0, v_at.topic, null::text, null::timestamptz
                from howdah._rows_2(v_at.topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) r;
                get diagnostics v_taken = row_count;
                select array_agg(k.xid), array_agg(k.seq * 1000000 + v_at.topic_id), array_agg(k.seq * 1000000 + v_at.topic_id) filter (where k.nonpersistent)
                into v_xids, v_ids, v_volatile
                from howdah._keys_2(v_at.topic_id, v_from, v_from_seq, v_to, v_done, v_upto, v_now, p_want) k
                where v_taken > 0 and (v_journaled or v_taken = p_want);
            end if;
            v_total := v_total + v_taken;
            if v_journaled and v_taken > 0 then
                insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids)
                select v_now, v_destination.id, false, 'consumed', v_ids where v_volatile is null
                union all
                select v_now, v_destination.id, v.id is not null, 'consumed', array_agg(i.id)
                from unnest(v_ids) i(id) left join unnest(v_volatile) v(id) on v.id = i.id
                where v_volatile is not null group by 3;
            end if;
            if v_taken = p_want then
                perform howdah._same_ring(v_ring);
                perform howdah._move_cursor(v_at.cursor, v_xids[v_taken], v_ids[v_taken] / 1000000, v_total,
                    case when v_way = 1 then (v_at.cursor).snapshot else howdah._cut(v_at.done, v_upto, v_xids[v_taken]) end);
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
    perform howdah._expire_leases(v_destination.id);
    return query select * from howdah._receive_set_aside(v_destination, p_name, p_want, p_hold);
    get diagnostics v_taken = row_count;
    p_want := p_want - v_taken;
    for v_ack in
        select a.* from howdah.acks a where a.subscription_id = v_destination.id order by a.priority desc, a.destination_id
    loop
        exit when p_want <= 0;
        -- One by one also with an old snapshot, so that what was set aside or consumed since is met (howdah._note_done), and beside
        -- leased ones, which the cursor must not pass.
        if v_look.shared or p_hold or howdah._has_old_snapshot()
           or exists (select from howdah.acked d where d.ack_id = v_ack.id and d.lease_id is not null) then
            return query select * from howdah._claim_published(v_destination, v_look.subscription, v_ack, p_name, p_want, p_hold);
        else
            return query select * from howdah._read_published(v_destination, v_look.subscription, v_ack, p_name, p_want);
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
    v_ring bigint := howdah._truncations();
    v_upto pg_snapshot := howdah._snapshot();
    v_now timestamptz := howdah.now();
    v_topic text := howdah._name(p_ack.destination_id);
    v_failing boolean := pg_sequence_last_value(p_destination.failing) is not null;
    v_least integer := case when p_subscription.selector_sql is null and not p_subscription.prioritized then 1 else 1000 end;
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
                    v_cursor.delivered + e.taken, v_now,
                    case when e.ended then v_upto else howdah._moved(v_cursor, v_upto, l.xid) end
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
            ), passed as (
                delete from howdah.acked a
                where a.ack_id = p_ack.id
                  and a.seq = any (array(
                      select p.seq from page p
                      where p.done and ((select count(*) from taken) < p_want
                         or (p.xid, p.seq) < (select t.xid, t.seq from taken t order by t.xid desc, t.seq desc limit 1))))
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
    perform howdah._same_ring(v_ring);
    -- An idle reader writes where it would otherwise read a closed table again and again.
    if p_want > 0 and (v_cursor.seq >= 0 or cardinality(howdah._slots_from(pg_snapshot_xmax(v_cursor.snapshot))) > 1) then
        v_cursor := howdah._move_cursor(v_cursor, '3', -1, 0, v_upto);
    end if;
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
    v_upto pg_snapshot := howdah._snapshot();
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
                    v_segment.to_xid, v_upto, greatest(p_want * 2, 64)) p
            loop
                v_rows := v_rows + 1;
                v_segment.from_xid := v_row.xid;
                v_segment.from_seq := v_row.seq;
                if not v_row.wanted or v_row.done then
                    v_passed := v_passed + 1;
                    continue;
                end if;
                continue when p_subscription.shared and not howdah._lock_published(p_subscription, p_ack, v_row.xid, v_row.seq);
                v_failures := 0;
                if v_failing then
                    select coalesce(max(f.failures), 0), coalesce(max(f.weight), 0) into v_failures, v_weight
                    from howdah._count_failures(p_destination.id, array[v_row.message_id], array[0::smallint], array[v_row.conversation_id]) f
                    where f.stage = 0;
                    if v_weight >= p_destination.dispose_at then
                        perform howdah._note_done(p_ack.id, array[v_row.seq], array[v_row.xid]);
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
            exit when v_rows < greatest(p_want * 2, 64);
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
-- Raises   40001 as howdah._note_done.
-- Role     internal
create or replace function howdah._acknowledge(
    p_destination howdah.destinations, p_ack howdah.acks, p_seqs bigint[], p_xids xid8[], p_nonpersistent boolean[]
) returns void
language plpgsql volatile
as $$
begin
    perform howdah._note_done(p_ack.id, p_seqs, p_xids);
    perform howdah._journal(p_destination, 'consumed', array_agg(u.seq * 1000000 + p_ack.destination_id), u.nonpersistent)
    from unnest(p_seqs, p_nonpersistent) u(seq, nonpersistent)
    group by u.nonpersistent;
end
$$;

-- howdah._note_done(p_ack_id, p_seqs, p_xids): note messages that a cursor has not passed as done with.
--
-- Raises   40001 somebody else did so: only a transaction with an old snapshot can meet this.
-- Role     internal
--
-- What others did since an old snapshot may be noted no longer, for the cursor went over it: so with such a snapshot the cursor
-- makes a step in place, which fails if anybody else moved it.
create or replace function howdah._note_done(p_ack_id integer, p_seqs bigint[], p_xids xid8[]) returns void
language plpgsql volatile
as $$
declare
    v_cursor howdah.ack_cursors;
begin
    insert into howdah.acked (ack_id, seq, xid) select p_ack_id, u.seq, u.xid from unnest(p_seqs, p_xids) u(seq, xid)
    on conflict do nothing;
    if howdah._has_old_snapshot() then
        perform pg_advisory_xact_lock(1213154377, p_ack_id);
        v_cursor := howdah._own_cursor(p_ack_id);
        perform howdah._move_cursor(v_cursor, v_cursor.xid, v_cursor.seq, 0, v_cursor.snapshot);
    end if;
end
$$;
