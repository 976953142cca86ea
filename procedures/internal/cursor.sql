-- howdah._cursor(p_ack_id): where a cursor stands.
--
-- Returns  the highest step of howdah.ack_cursors.
-- Role     internal
--
-- From the end of the index, so that deleted steps are never met.
create or replace function howdah._cursor(p_ack_id integer) returns howdah.ack_cursors
language sql volatile
as $$ select c from howdah.ack_cursors c where c.ack_id = p_ack_id order by c.n desc limit 1 $$;

-- howdah._own_cursor(p_ack_id): where a cursor stands that the caller is going to move, or to note messages for.
--
-- Returns  as howdah._cursor.
-- Raises   40001 somebody moved it since the transaction's snapshot was taken.
-- Role     internal
--
-- The lock on the step fails if old steps were deleted meanwhile, among them the next one: else it could be made twice.
create or replace function howdah._own_cursor(p_ack_id integer) returns howdah.ack_cursors
language plpgsql volatile
as $$
declare
    v_cursor howdah.ack_cursors := howdah._cursor(p_ack_id);
begin
    if howdah._has_old_snapshot() then
        perform from howdah.ack_cursors c where c.ack_id = p_ack_id and c.n = v_cursor.n for key share;
    end if;
    return v_cursor;
end
$$;

-- howdah._move_cursor(p_cursor, p_xid, p_seq, p_delivered, p_snapshot): make the next step of a cursor.
--
-- Raises   40001 somebody else made it: only a transaction with an old snapshot can meet this.
-- Role     internal
create or replace function howdah._move_cursor(
    p_cursor howdah.ack_cursors, p_xid xid8, p_seq bigint, p_delivered bigint, p_snapshot pg_snapshot
) returns howdah.ack_cursors
language plpgsql volatile
as $$
declare
    v_next howdah.ack_cursors;
begin
    insert into howdah.ack_cursors (ack_id, n, xid, seq, delivered, at, snapshot)
    values (p_cursor.ack_id, p_cursor.n + 1, p_xid, p_seq, p_cursor.delivered + p_delivered, howdah.now(), p_snapshot)
    on conflict do nothing
    returning * into v_next;
    if not found then
        raise exception using errcode = '40001', message = 'another transaction moved the cursor', hint = 'Retry the transaction.';
    end if;
    return v_next;
end
$$;

-- howdah._segments(p_cursor, p_topic, p_upto): the ranges of transactions in which a cursor may find messages, in reading order.
--
-- Returns  for each range the message it begins after (from_xid, from_seq), its last transaction and the tables it may lie in.
-- Role     internal
--
-- First what is left of the transaction passed in part, then each that was under way at the cursor and has ended since, if it published;
-- then those begun later, with what is left if nothing comes between.
create or replace function howdah._segments(p_cursor howdah.ack_cursors, p_topic integer, p_upto pg_snapshot)
returns table (from_xid xid8, from_seq bigint, to_xid xid8, slots integer[])
language plpgsql volatile
as $$
declare
    v_xmax constant xid8 := pg_snapshot_xmax(p_cursor.snapshot);
    v_late xid8[] := array(
        select s.xid from pg_snapshot_xip(p_cursor.snapshot) s(xid) where pg_visible_in_snapshot(s.xid, p_upto)
        order by p_cursor.seq >= 0 and s.xid = p_cursor.xid desc, s.xid);
begin
    if cardinality(v_late) > 0 and p_cursor.seq >= 0 and p_cursor.xid = v_xmax then
        v_late := v_xmax || v_late;
    end if;
    if cardinality(v_late) > 0 then
        slots := howdah._slots_from((select min(l.xid) from unnest(v_late) l(xid)));
        foreach to_xid in array v_late loop
            from_xid := to_xid;
            from_seq := case when to_xid = p_cursor.xid then p_cursor.seq else -1 end;
            if exists (select from howdah._topic_page(slots, p_topic, from_xid, from_seq, to_xid, p_upto, 1)) then
                return next;
            end if;
        end loop;
    end if;
    from_xid := v_xmax;
    from_seq := case when from_xid <> p_cursor.xid then -1 when v_late[1] = v_xmax then 9223372036854775807 else p_cursor.seq end;
    to_xid := pg_snapshot_xmax(p_upto);
    slots := howdah._slots_from(from_xid);
    return next;
end
$$;

-- howdah._ahead(p_subscription, p_ack, p_upto, p_limit, p_seqs): what a cursor has for its subscription up to a snapshot.
--
-- Returns  as howdah._page, in reading order, at most p_limit (NULL: all): what is wanted and not done, or, with p_seqs, those messages.
-- Role     internal
create or replace function howdah._ahead(
    p_subscription howdah.subscriptions, p_ack howdah.acks, p_upto pg_snapshot, p_limit integer, p_seqs bigint[]
)
returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint, is_text boolean,
    content_type text, body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    client_id text, nonpersistent boolean, message_id bigint, done boolean, wanted boolean
)
language plpgsql volatile
as $$
declare
    v_segment record;
    v_rows integer;
    v_found integer := 0;
begin
    for v_segment in select * from howdah._segments(howdah._cursor(p_ack.id), p_ack.destination_id, p_upto) loop
        loop
            v_rows := 0;
            for xid, seq, sent_at, expires_at, destination_id, rank, is_text, content_type, body, headers, correlation_id, reply_to,
                message_type, conversation_id, client_id, nonpersistent, message_id, done, wanted in
                select p.* from howdah._page(p_subscription, p_ack, v_segment.slots, v_segment.from_xid, v_segment.from_seq,
                    v_segment.to_xid, p_upto, 1000) p
            loop
                v_rows := v_rows + 1;
                v_segment.from_xid := xid;
                v_segment.from_seq := seq;
                continue when case when p_seqs is null then done or not wanted else seq <> all (p_seqs) end;
                return next;
                v_found := v_found + 1;
                if v_found = p_limit then
                    return;
                end if;
            end loop;
            exit when v_rows < 1000;
        end loop;
    end loop;
end
$$;

-- howdah._locate(p_subscription, p_ack, p_seqs): find messages that a cursor has not passed, done with or not.
--
-- Returns  as howdah._ahead.
-- Role     internal
--
-- What is asked for was received last, so it is near the cursor, from which the search goes on until all are found.
create or replace function howdah._locate(p_subscription howdah.subscriptions, p_ack howdah.acks, p_seqs bigint[])
returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint, is_text boolean,
    content_type text, body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    client_id text, nonpersistent boolean, message_id bigint, done boolean, wanted boolean
)
language sql volatile
as $$ select * from howdah._ahead(p_subscription, p_ack, howdah._snapshot(), cardinality(p_seqs), p_seqs) $$;

-- howdah._skip_backlog(p_destination, p_subscription, p_ack, p_reason): move a cursor to the end, over all it has not read, which the journal names.
--
-- Returns  the number of messages discarded (bigint).
-- Role     internal
--
-- The caller has locked the subscription. At most 10,000 messages go into a row of the journal.
create or replace function howdah._skip_backlog(
    p_destination howdah.destinations, p_subscription howdah.subscriptions, p_ack howdah.acks, p_reason text
) returns bigint
language plpgsql volatile
as $$
declare
    v_upto pg_snapshot := howdah._snapshot();
    v_ids bigint[];
    v_nonpersistent boolean;
    v_discarded bigint := 0;
begin
    for v_ids, v_nonpersistent in
        select array_agg(a.message_id), a.nonpersistent
        from (select h.message_id, h.nonpersistent, row_number() over () / 10000 as part
              from howdah._ahead(p_subscription, p_ack, v_upto, null, null) h) a
        group by a.nonpersistent, a.part
    loop
        perform howdah._journal(p_destination, 'discarded', v_ids, v_nonpersistent, null, p_reason);
        v_discarded := v_discarded + cardinality(v_ids);
    end loop;
    perform howdah._move_cursor(howdah._cursor(p_ack.id), '3', -1, 0, v_upto);
    delete from howdah.acked a where a.ack_id = p_ack.id and pg_visible_in_snapshot(a.xid, v_upto);
    return v_discarded;
end
$$;

-- howdah._fold(p_subscription, p_ack): move a cursor over what is done with, up to the first message that is not, or that is leased.
--
-- Role     internal
--
-- At most 10,000 messages of a range at a time; nothing if somebody else is doing it.
create or replace function howdah._fold(p_subscription howdah.subscriptions, p_ack howdah.acks) returns void
language plpgsql volatile
as $$
declare
    v_cursor howdah.ack_cursors;
    v_upto pg_snapshot;
    v_segment record;
    v_page record;
    v_leased bigint[];
    v_ring bigint := howdah._truncations();
begin
    if not pg_try_advisory_xact_lock(1213154377, p_ack.id) then
        return;
    end if;
    v_cursor := howdah._cursor(p_ack.id);
    v_upto := howdah._snapshot();
    v_leased := array(select a.seq from howdah.acked a where a.ack_id = p_ack.id and a.lease_id is not null);
    for v_segment in select * from howdah._segments(v_cursor, p_ack.destination_id, v_upto) loop
        select bool_or(p.open) as open, count(*) as total, array_agg(p.seq) filter (where p.done and not p.open) as done,
            (array_agg(p.xid order by p.xid desc, p.seq desc) filter (where not p.open))[1] as xid,
            (array_agg(p.seq order by p.xid desc, p.seq desc) filter (where not p.open))[1] as seq
        into v_page
        from (
            select t.xid, t.seq, t.done, bool_or(t.wanted and (not t.done or t.seq = any (v_leased))) over (order by t.xid, t.seq) as open
            from howdah._page(p_subscription, p_ack, v_segment.slots, v_segment.from_xid, v_segment.from_seq, v_segment.to_xid, v_upto, 10000) t
        ) p;
        if v_page.xid is not null then
            v_cursor := howdah._move_cursor(v_cursor, v_page.xid, v_page.seq, coalesce(cardinality(v_page.done), 0),
                 howdah._moved(v_cursor, v_upto, v_page.xid));
            delete from howdah.acked a where a.ack_id = p_ack.id and a.seq = any (v_page.done);
        end if;
        exit when v_page.open or v_page.total = 10000;
        if v_segment.to_xid = pg_snapshot_xmax(v_upto) and v_page.total > 0 then
            v_cursor := howdah._move_cursor(v_cursor, '3', -1, 0, v_upto);
        end if;
    end loop;
    perform howdah._same_ring(v_ring);
end
$$;
