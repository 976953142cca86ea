-- howdah.maintain_topics(lock_epoch): turn the ring of topic tables, and give back the space of what nobody needs any more.
--
-- Returns  what was done, for a log (text); empty: nothing was to be done.
-- Raises   HD005 the transaction is not READ COMMITTED; HD014 the maintenance lock is not held with this epoch; HD025 a restored database.
-- Role     howdah_consumer howdah_admin
--
-- It never waits longer than 50 ms for a lock: what a reader or a late publisher holds is left for the next time. A table is closed
-- once nobody who wrote to it is still under way, prepared transactions included, for they hold its lock; so all in it is committed. It is
-- emptied by TRUNCATE when no subscription, retention or recovery policy needs any of it, or so little that it can be carried on.
create or replace function howdah.maintain_topics(lock_epoch bigint default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set lock_timeout = '50ms'
as $$
declare
    v_slot howdah.topic_ring;
    v_open howdah.topic_ring;
    v_done text[] := '{}';
    v_left bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'howdah.maintain_topics needs READ COMMITTED',
            hint = 'With an older snapshot it would not see who still needs a table.';
    end if;
    if not pg_try_advisory_xact_lock(1213154379, 0) then
        return '';
    end if;
    perform howdah._check_cluster();
    perform howdah._settle_ring();
    for v_slot in select r.* from howdah.topic_ring r where r.state in ('closing', 'closed') order by r.generation loop
        begin
            if v_slot.state = 'closing' then
                execute format('lock table only howdah.topic_msgs_%s, only howdah.topic_nonpersistent_%s in share mode', v_slot.slot, v_slot.slot);
                update howdah.topic_ring r
                set state = 'closed', closed_xid = pg_snapshot_xmax(pg_current_snapshot()), closed_at = howdah.now()
                where r.slot = v_slot.slot
                returning r.* into v_slot;
                v_done := v_done || format('closed %s', v_slot.slot);
            end if;
        exception when lock_not_available then
            v_done := v_done || format('left %s, which is written to', v_slot.slot);
            continue;
        end;
        begin
            -- Who is subscribing holds the lock: what was published since then is needed, though nobody sees it yet.
            if pg_try_advisory_xact_lock(1213154381, 0) and not exists (select from howdah._needed(v_slot.slot) offset 10000) then
                execute format('lock table only howdah.topic_msgs_%s, only howdah.topic_nonpersistent_%s in access exclusive mode', v_slot.slot, v_slot.slot);
                v_left := howdah._empty_slot(v_slot.slot);
                v_done := v_done || format('emptied %s, carried %s messages on', v_slot.slot, v_left);
            end if;
        exception when lock_not_available then
            v_done := v_done || format('left %s, which is in use', v_slot.slot);
        end;
    end loop;
    select r.* into v_open from howdah.topic_ring r where r.state = 'open';
    if v_open.opened_at < howdah.now() - (select e.topic_rotation_seconds * interval '1 second' from howdah.engine e)
       and howdah._slot_bytes(v_open.slot) > 0
       and (select r.state from howdah.topic_ring r where r.slot = (v_open.slot + 1) % 3) = 'empty' then
        update howdah.topic_ring r set state = 'closing' where r.slot = v_open.slot;
        update howdah.topic_ring r
        set state = 'open', generation = v_open.generation + 1, closed_xid = null, closed_at = null, opened_at = howdah.now()
        where r.slot = (v_open.slot + 1) % 3;
        perform setval('howdah.topic_generation'::regclass, v_open.generation + 1);
        v_done := v_done || format('opened %s', (v_open.slot + 1) % 3);
    end if;
    return array_to_string(v_done, '; ');
end
$$;

-- howdah._slot_bytes(p_slot): size of a pair of topic tables.
--
-- Returns  bytes.
-- Role     internal
create or replace function howdah._slot_bytes(p_slot integer) returns bigint
language sql volatile
as $$
    select pg_relation_size(format('howdah.topic_msgs_%s', p_slot)::regclass)
        + pg_relation_size(format('howdah.topic_nonpersistent_%s', p_slot)::regclass)
$$;

-- howdah._settle_ring(): make the numbers of turns and truncations fit the table again, after a transaction that changed both was undone.
--
-- Role     internal
--
-- Sequences are not undone. Whoever is just changing them holds the lock, and is waited for. A transaction with a snapshot of its own
-- may see an old ring, by which nothing must be settled.
create or replace function howdah._settle_ring() returns void
language plpgsql volatile
as $$
declare
    v_ring record;
begin
    select max(r.truncations) as truncations, max(r.generation) filter (where r.state = 'open') as generation into v_ring from howdah.topic_ring r;
    if v_ring.truncations = coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0)
       and v_ring.generation = howdah._generation() or howdah._has_old_snapshot() then
        return;
    end if;
    perform pg_advisory_xact_lock(1213154379, 0);
    select max(r.truncations) as truncations, max(r.generation) filter (where r.state = 'open') as generation into v_ring from howdah.topic_ring r;
    if v_ring.truncations <> coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0) then
        perform setval('howdah.topic_truncations'::regclass, v_ring.truncations);
    end if;
    if v_ring.generation < howdah._generation() then
        -- Publishers have gone on to the next table, or through that to the one after it.
        update howdah.topic_ring r set state = 'closing' where r.state = 'open';
        update howdah.topic_ring r
        set state = case when g.last = howdah._generation() then 'open' else 'closing' end, generation = g.last, closed_xid = null,
            closed_at = null, opened_at = howdah.now()
        from (select max(g) as last from generate_series(v_ring.generation + 1, howdah._generation()) g group by g % 3) g
        where r.slot = g.last % 3;
    end if;
end
$$;

-- howdah._needed(p_slot): the messages of a closed table that somebody still needs.
--
-- Returns  destination_id, xid and seq of each.
-- Role     internal
--
-- Unread by a subscription; young enough for the topic's retention; or kept for late subscribers by its recovery policy. If they are over
-- 10,000, not all of them: nobody needs to know which.
create or replace function howdah._needed(p_slot integer) returns table (destination_id integer, xid xid8, seq bigint)
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
begin
    return query execute format(
        'with stored as not materialized (
            select s.destination_id, s.xid, s.seq, s.sent_at, s.expires_at from howdah.topic_msgs_%1$s s
            union all
            select s.destination_id, s.xid, s.seq, s.sent_at, s.expires_at
            from howdah.topic_nonpersistent_%1$s s where s.boot = pg_postmaster_start_time()
        )
        select a.destination_id, n.xid, n.seq
        from howdah.acks a
        cross join lateral howdah._cursor(a.id) c
        cross join lateral (
            select s.xid, s.seq from stored s
            where s.destination_id = a.destination_id and s.xid >= pg_snapshot_xmin(c.snapshot) and not howdah._is_passed(c, s.xid, s.seq)
              and (s.expires_at <= $1) is not true and not exists (select from howdah.acked d where d.ack_id = a.id and d.seq = s.seq and d.lease_id is null)
            limit 10001
        ) n
        union
        select t.destination_id, n.xid, n.seq
        from howdah.topics t
        cross join lateral (
            select s.xid, s.seq from stored s
            where s.destination_id = t.destination_id and (s.expires_at <= $1) is not true
              and s.sent_at > $1 - greatest(t.retain_ms, case when t.recovery = ''timed'' then t.recovery_amount end) * interval ''1 millisecond''
            limit 10001
        ) n
        where t.retain_ms is not null or t.recovery = ''timed''
        union
        select t.destination_id, n.xid, n.seq
        from howdah.topics t
        cross join lateral (
            select s.xid, s.seq
            from (
                select h.xid, h.seq, row_number() over w as back, sum(octet_length(h.body)) over w as bytes, h.headers -> ''retain'' = ''true'' as retain,
                    row_number() over (partition by h.headers -> ''retain'' = ''true'' order by h.seq desc) as retained
                from howdah._history(t.destination_id, null) h
                window w as (order by h.seq desc)
            ) k
            join stored s on s.destination_id = t.destination_id and s.xid = k.xid and s.seq = k.seq
            where k.bytes <= t.retain_bytes
               or case t.recovery
                    when ''last_image'' then k.back = 1
                    when ''retained'' then k.retain and k.retained = 1
                    when ''fixed_count'' then k.back <= t.recovery_amount
                    when ''fixed_size'' then k.bytes <= t.recovery_amount
                    else false end
            limit 10001
        ) n
        where t.retain_bytes is not null or t.recovery in (''last_image'', ''retained'', ''fixed_count'', ''fixed_size'')', p_slot)
    using v_now;
end
$$;

-- howdah._empty_slot(p_slot): empty a closed pair of topic tables that the caller has locked; what is needed goes into the open ones.
--
-- Returns  how many messages were carried on (bigint).
-- Role     internal
create or replace function howdah._empty_slot(p_slot integer) returns bigint
language plpgsql volatile
as $$
declare
    v_open integer := howdah._generation() % 3;
    v_keys record;
    v_kept bigint;
begin
    select array_agg(n.destination_id) as ids, array_agg(n.xid) as xids, array_agg(n.seq) as seqs, count(*) as kept
    into v_keys from howdah._needed(p_slot) n;
    if v_keys.kept > 0 then
        execute format('insert into howdah.topic_msgs_%s select s.* from howdah.topic_msgs_%s s
            join unnest($1, $2, $3) k(id, xid, seq) on s.destination_id = k.id and s.xid = k.xid and s.seq = k.seq', v_open, p_slot)
        using v_keys.ids, v_keys.xids, v_keys.seqs;
        execute format('insert into howdah.topic_nonpersistent_%s select s.* from howdah.topic_nonpersistent_%s s
            join unnest($1, $2, $3) k(id, xid, seq) on s.destination_id = k.id and s.xid = k.xid and s.seq = k.seq', v_open, p_slot)
        using v_keys.ids, v_keys.xids, v_keys.seqs;
    end if;
    -- What was noted about messages that go now: no cursor meets them any more.
    execute format('delete from howdah.acked d using howdah.acks a
        where a.id = d.ack_id and not exists (select from unnest($1, $2) k(id, seq) where k.id = a.destination_id and k.seq = d.seq)
          and (exists (select from howdah.topic_msgs_%1$s s where s.destination_id = a.destination_id and s.xid = d.xid and s.seq = d.seq)
            or exists (select from howdah.topic_nonpersistent_%1$s s where s.destination_id = a.destination_id and s.xid = d.xid and s.seq = d.seq))',
        p_slot)
    using v_keys.ids, v_keys.seqs;
    perform setval('howdah.topic_truncations'::regclass, (select max(r.truncations) + 1 from howdah.topic_ring r));
    execute format('truncate table only howdah.topic_msgs_%s, only howdah.topic_nonpersistent_%s', p_slot, p_slot);
    update howdah.topic_ring r
    set state = 'empty', closed_xid = null, closed_at = null, truncations = (select max(m.truncations) + 1 from howdah.topic_ring m)
    where r.slot = p_slot;
    return v_keys.kept;
end
$$;
