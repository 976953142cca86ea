-- howdah._rows_0(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit): messages of a topic in reading order, from the tables number 0.
--
-- Returns  up to p_limit rows: those of transactions up to p_to that lie after the message (p_after, p_after_seq), are visible in p_upto and
--          not in p_done (NULL: any), and have not expired at p_now (NULL: any).
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- STABLE and of one statement, so that the planner puts it into the statement that calls it: no copy is made, and columns that the
-- statement does not use are not read. Whoever calls it forbids other scans than by index, which give the order, so a small limit reads little.
create or replace function howdah._rows_0(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint, is_text boolean,
    content_type text, body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    client_id text, nonpersistent boolean
)
language sql stable
as $$
    (select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
         t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, false
     from howdah.topic_msgs_0 t
     where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
       and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
     order by t.xid, t.seq limit p_limit)
    union all
    (select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
         t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, true
     from howdah.topic_nonpersistent_0 t
     where t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
       and t.boot = pg_postmaster_start_time()
     order by t.xid, t.seq limit p_limit)
    order by 1, 2 limit p_limit
$$;

-- howdah._rows_1(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit): messages of a topic in reading order, from the tables number 1.
--
-- Returns  up to p_limit rows: those of transactions up to p_to that lie after the message (p_after, p_after_seq), are visible in p_upto and
--          not in p_done (NULL: any), and have not expired at p_now (NULL: any).
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
create or replace function howdah._rows_1(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint, is_text boolean,
    content_type text, body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    client_id text, nonpersistent boolean
)
language sql stable
as $$
    (select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
         t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, false
     from howdah.topic_msgs_1 t
     where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
       and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
     order by t.xid, t.seq limit p_limit)
    union all
    (select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
         t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, true
     from howdah.topic_nonpersistent_1 t
     where t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
       and t.boot = pg_postmaster_start_time()
     order by t.xid, t.seq limit p_limit)
    order by 1, 2 limit p_limit
$$;

-- howdah._rows_2(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit): messages of a topic in reading order, from the tables number 2.
--
-- Returns  up to p_limit rows: those of transactions up to p_to that lie after the message (p_after, p_after_seq), are visible in p_upto and
--          not in p_done (NULL: any), and have not expired at p_now (NULL: any).
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
create or replace function howdah._rows_2(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint, is_text boolean,
    content_type text, body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    client_id text, nonpersistent boolean
)
language sql stable
as $$
    (select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
         t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, false
     from howdah.topic_msgs_2 t
     where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
       and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
     order by t.xid, t.seq limit p_limit)
    union all
    (select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
         t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, true
     from howdah.topic_nonpersistent_2 t
     where t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
       and t.boot = pg_postmaster_start_time()
     order by t.xid, t.seq limit p_limit)
    order by 1, 2 limit p_limit
$$;

-- howdah._keys_0(p_topic, …): the keys alone of what howdah._rows_0 returns.
--
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._keys_0(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns table (xid xid8, seq bigint, nonpersistent boolean)
language sql stable
as $$
    (select t.xid, t.seq, false
     from howdah.topic_msgs_0 t
     where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
       and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
     order by t.xid, t.seq limit p_limit)
    union all
    (select t.xid, t.seq, true
     from howdah.topic_nonpersistent_0 t
     where t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
       and t.boot = pg_postmaster_start_time()
     order by t.xid, t.seq limit p_limit)
    order by 1, 2 limit p_limit
$$;

-- howdah._keys_1(p_topic, …): the keys alone of what howdah._rows_1 returns.
--
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._keys_1(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns table (xid xid8, seq bigint, nonpersistent boolean)
language sql stable
as $$
    (select t.xid, t.seq, false
     from howdah.topic_msgs_1 t
     where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
       and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
     order by t.xid, t.seq limit p_limit)
    union all
    (select t.xid, t.seq, true
     from howdah.topic_nonpersistent_1 t
     where t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
       and t.boot = pg_postmaster_start_time()
     order by t.xid, t.seq limit p_limit)
    order by 1, 2 limit p_limit
$$;

-- howdah._keys_2(p_topic, …): the keys alone of what howdah._rows_2 returns.
--
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._keys_2(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns table (xid xid8, seq bigint, nonpersistent boolean)
language sql stable
as $$
    (select t.xid, t.seq, false
     from howdah.topic_msgs_2 t
     where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
       and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
     order by t.xid, t.seq limit p_limit)
    union all
    (select t.xid, t.seq, true
     from howdah.topic_nonpersistent_2 t
     where t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
       and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
       and t.boot = pg_postmaster_start_time()
     order by t.xid, t.seq limit p_limit)
    order by 1, 2 limit p_limit
$$;
