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
