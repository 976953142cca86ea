-- howdah._begin_stream(p_name, p_hold, p_plain, p_consumer): check that the caller may receive from a subscription,
-- lock it, and find where it continues.
--
-- Returns  the subscription's id, whether it is journaled, and where to read. A subscription is usual if it reads one
--          topic alone, takes all its messages as they are, and has nothing failed or set aside. Then slot is the
--          number of the ring's tables that hold what it has not passed (NULL: several, or it is not usual). The result
--          also says whether these hold only non-persistent or only persistent messages. ack_cursor: where it starts.
--          done: what it has passed, as a snapshot. late: the first transaction that committed late. upto: the snapshot
--          to read up to.
--
-- For a shared subscription, howdah._receive_shared finds the place to read from. It gets usual, failing, closed and
-- ring. failing: the sequence that tells whether something failed, unless failures count by conversation or group.
-- closed: the first transaction whose messages are in the ring's open tables only, if generation is still the ring's
-- (NULL: not known). ring: the number of truncations.
-- Raises   HD005 it is a topic; HD009, HD016 as howdah.receive; HD024 an unshared subscription is being read or leased
--          by somebody else, or has an open consumer; HD025 a restored database; HD032 the consumer is not open.
-- Role     internal
--
-- p_plain: nothing was ever leased from it and no consumer opened, so there is none to ask for.
create or replace function howdah._begin_stream(
    p_name text, p_hold boolean, p_plain boolean, p_consumer bigint,
    out id integer, out journaled boolean, out slot integer,
    out nonpersistent boolean, out topic_id integer, out topic text, out ack_cursor howdah.ack_cursors,
    out done pg_snapshot, out late xid8, out upto pg_snapshot, out ring bigint, out moment timestamptz,
    out shared boolean, out usual boolean, out failing regclass, out closed xid8, out generation bigint
) returns record
language plpgsql volatile
as $$
declare
    v_look record;
    v_from xid8;
    v_at record;
    v_slots integer[];
begin
    -- A reader of a shared subscription blocks whoever wants to change it.
    loop
        select d.id, d.journaled, d.special, s.topic, s.shared, s.alive,
            howdah._is_wildcard(s.topic) as wild,
            not (s.prioritized or s.no_local or p_hold and not s.shared or howdah._has_old_snapshot())
                and s.selector_sql is null and s.transformation is null
                and (pg_sequence_last_value(d.failing) is null or s.shared and d.count_by = 'message') as plain,
            d.failing,
            r.truncations = howdah._truncations() and r.generation = howdah._generation() as settled,
            r.truncations, r.generation, r.closed,
            pg_sequence_last_value('howdah.topic_checked'::regclass) = howdah._boot_ms() as checked,
            howdah._silent_ms(s.alive) < 1000 as noted
        into v_look
        from howdah.destinations d
        join howdah.subscriptions s on s.destination_id = d.id
        cross join (select max(g.truncations) as truncations,
            max(g.generation) filter (where g.state = 'open') as generation,
            max(case when g.state = 'closing' then '9223372036854775807' else coalesce(g.closed_xid, '0') end) as closed
            from howdah.topic_ring g) r
        where d.name = p_name and d.dropped_at is null
          and (not d.receiving_paused or not d.own_receiving_paused and howdah._engine_state() = 'running')
          and (howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive'));
        if not found then
            perform howdah._refuse_stream(p_name);
        end if;
        exit when not v_look.shared
            or pg_try_advisory_xact_lock_shared(howdah._lock_key('subscription', v_look.id::text));
        -- Somebody is changing it. Wait for that, and look again.
        perform pg_advisory_xact_lock_shared(howdah._lock_key('subscription', v_look.id::text));
    end loop;
    id := v_look.id;
    journaled := v_look.journaled;
    moment := howdah.now();
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
        if p_consumer is not null then
            perform howdah._check_reader(d, p_consumer) from howdah.destinations d where d.id = v_look.id;
        end if;
        topic := v_look.topic;
        shared := true;
        usual := v_look.plain and not v_look.wild;
        failing := v_look.failing;
        ring := v_look.truncations;
        generation := v_look.generation;
        closed := case when v_look.settled then v_look.closed end;
        return;
    elsif not pg_try_advisory_xact_lock(howdah._lock_key('subscription', v_look.id::text)) then
        raise exception using errcode = 'HD024', message = format('subscription %s is being read by another consumer',
            quote_literal(p_name)),
            hint = 'An unshared subscription has one active consumer; subscribe with shared => true for several.';
    elsif not p_plain or p_consumer is not null then
        perform howdah._check_reader(d, p_consumer) from howdah.destinations d where d.id = v_look.id;
    end if;
    if v_look.plain then
        ring := howdah._truncations();
        upto := howdah._snapshot();  -- the statements that read begin after this
        select a.destination_id, d.name, c.cursor
        into v_at
        from howdah.acks a
        join howdah.destinations d on d.id = a.destination_id
        cross join lateral (select s as cursor from howdah.ack_cursors s where s.ack_id = a.id order by s.n desc
            limit 1) c
        where a.subscription_id = v_look.id and (not v_look.wild or howdah._has_right(a.destination_id, 'receive'))
          and not exists (select from howdah.acks o where o.subscription_id = v_look.id and o.id <> a.id)
          and not exists (select from howdah.acked o where o.ack_id = a.id)
          and not exists (select from howdah.msgs o where o.destination_id = v_look.id)
          and not exists (select from howdah.msgs_nonpersistent o where o.destination_id = v_look.id)
          and not (exists (select from howdah.parked o where o.destination_id = v_look.id)
              and howdah._has_due(v_look.id, moment));
        if found then
            topic_id := v_at.destination_id;
            topic := v_at.name;
            ack_cursor := v_at.cursor;
            done := case when ack_cursor.seq >= 0 then howdah._whole_snapshot(ack_cursor)
                else ack_cursor.snapshot end;
            if pg_snapshot_xmin(done) < pg_snapshot_xmax(done) then
                select x.xid into late from pg_snapshot_xip(done) x(xid) where pg_visible_in_snapshot(x.xid, upto)
                order by x.xid limit 1;
            end if;
            v_from := least(case when ack_cursor.seq >= 0 then ack_cursor.xid end, late, pg_snapshot_xmax(done));
            v_slots := howdah._slots_from(v_from);
            -- If a very old transaction has ended, the way from its id on may be long.
            if cardinality(v_slots) = 1
               and (pg_snapshot_xmax(done)::text::bigint - late::text::bigint > 100000) is not true then
                nonpersistent := howdah._is_nonpersistent(v_slots[1], topic_id, v_from);
                slot := case when nonpersistent is not null then v_slots[1] end;
            end if;
        end if;
    end if;
    if slot is null and p_plain and p_consumer is null
       and pg_sequence_last_value(v_look.special) is not null then
        -- the first lease or consumer came before the lock
        perform howdah._check_reader(d, null) from howdah.destinations d where d.id = v_look.id;
    end if;
end
$$;
