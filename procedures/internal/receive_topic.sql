-- howdah._receive_other(p_name, p_want, p_hold, p_plain, p_consumer): receive from a destination that is no queue; the body of howdah.receive for subscriptions.
--
-- Returns  up to p_want rows of howdah.message: first what was set aside and is due again, then what its topics have for it.
-- Raises   HD005 it is a topic; HD009, HD016 as howdah.receive; HD024 an unshared subscription is somebody else's: being read,
--          leased, or with an open consumer; HD025 a restored database; HD032 the consumer is not open.
-- Role     internal
--
-- The usual subscriber, alone at one topic all of which it takes, with nothing failed or set aside,
-- is served here, from the table into the result. p_plain: nothing was ever leased from it, nor a consumer opened, so there is none to be asked for.
create or replace function howdah._receive_other(p_name text, p_want integer, p_hold boolean, p_plain boolean, p_consumer bigint) returns setof howdah.message
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
    if p_plain and p_consumer is null and not v_look.shared and pg_sequence_last_value(v_destination.special) is not null then
        perform howdah._check_reader(v_destination, null);  -- the first lease, or consumer, came before the lock
    end if;
    perform howdah._expire_leases(v_destination.id)
    where exists (select from howdah.acks a join howdah.acked d on d.ack_id = a.id
                  where a.subscription_id = v_destination.id and d.lease_id is not null and d.leased_until <= v_now);
    if exists (select from howdah.msgs o where o.destination_id = v_destination.id)
       or exists (select from howdah.msgs_nonpersistent o where o.destination_id = v_destination.id)
       or exists (select from howdah.parked o where o.destination_id = v_destination.id and o.due_at <= v_now) then
        return query select * from howdah._receive_set_aside(v_destination, p_name, p_want, p_hold);
        get diagnostics v_taken = row_count;
        p_want := p_want - v_taken;
    end if;
    for v_ack in
        select a.* from howdah.acks a
        where a.subscription_id = v_destination.id and (not v_look.wild or howdah._may(a.destination_id, 'receive'))
        order by a.priority desc, a.destination_id
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
