-- pgmq._messages(p_destination_id): all messages of a queue that are stored, as the view q_<queue> shows them.
--
-- Returns  the records of pgmq, and each message's identity (howdah.msgs.message_id) and place.
-- Role     internal
create or replace function pgmq._messages(p_destination_id integer) returns table (
    msg_id bigint, read_ct integer, enqueued_at timestamptz, last_read_at timestamptz, vt timestamptz, message jsonb,
    headers jsonb, message_id bigint, seq bigint, parked boolean
)
language sql volatile
as $$
    select pgmq._number(p_destination_id, m.message_id), 0, m.sent_at, null::timestamptz, m.sent_at,
        pgmq._json(m.content_type, coalesce(m.body, howdah._body(m.message_id))),
        pgmq._shown_headers(m.headers), m.message_id, m.seq, false
    from howdah.msgs m where m.destination_id = p_destination_id
    union all
    select pgmq._number(p_destination_id, n.message_id), 0, n.sent_at, null, n.sent_at,
        pgmq._json(n.content_type, n.body), pgmq._shown_headers(n.headers), n.message_id, n.seq, false
    from howdah.msgs_nonpersistent n
    where n.destination_id = p_destination_id and n.boot = pg_postmaster_start_time()
    union all
    select pgmq._number(p_destination_id, p.message_id), coalesce(p.reads, 0), p.sent_at, p.last_read_at, p.due_at,
        pgmq._json(p.content_type, coalesce(p.body, howdah._body(p.message_id))),
        pgmq._shown_headers(p.headers), p.message_id, p.seq, true
    from howdah.parked p
    where p.destination_id = p_destination_id and (p.boot is null or p.boot = pg_postmaster_start_time())
    union all
    select pgmq._number(p_destination_id, l.message_id), 1, l.sent_at, null, s.until,
        pgmq._json(l.content_type, coalesce(l.body, howdah._body(l.message_id))),
        pgmq._shown_headers(l.headers), l.message_id, l.seq, true
    from howdah.leased l join howdah.leases s on s.lease_id = l.seq >> 20
    where l.destination_id = p_destination_id
$$;
