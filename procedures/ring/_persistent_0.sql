-- howdah._persistent_0(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit): persistent messages of a topic in reading order, from the table number 0.
--
-- Returns  up to p_limit rows: those of transactions up to p_to that lie after the message (p_after, p_after_seq), are visible in p_upto and
--          not in p_done (NULL: any), and have not expired at p_now (NULL: any).
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- STABLE and of one statement, so that the planner puts it into the statement that calls it: no copy is made, and columns that the
-- statement does not use are not read. Whoever calls it forbids other scans than by index, which give the order, so a small limit reads little.
create or replace function howdah._persistent_0(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns setof howdah.topic_msgs_0
language sql stable
as $$
    select t.* from howdah.topic_msgs_0 t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
      and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
    order by t.xid, t.seq limit p_limit
$$;

-- howdah._nonpersistent_0(p_topic, …): non-persistent messages of a topic in reading order, from the table number 0.
--
-- Returns  as howdah._persistent_0, of this start of the server.
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._nonpersistent_0(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns setof howdah.topic_nonpersistent_0
language sql stable
as $$
    select t.* from howdah.topic_nonpersistent_0 t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
      and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
      and t.boot = pg_postmaster_start_time()
    order by t.xid, t.seq limit p_limit
$$;

-- howdah._rows_0(p_topic, …): messages of a topic in reading order, from both tables number 0.
--
-- Returns  as howdah._persistent_0.
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._rows_0(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint, is_text boolean,
    content_type text, body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    client_id text, nonpersistent boolean
)
language sql stable
as $$
    select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
        t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, false
    from howdah._persistent_0(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) t
    union all
    select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
        t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, true
    from howdah._nonpersistent_0(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) t
    order by 1, 2 limit p_limit
$$;

-- howdah._persistent_1(p_topic, …): as howdah._persistent_0, from the table number 1.
--
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._persistent_1(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns setof howdah.topic_msgs_1
language sql stable
as $$
    select t.* from howdah.topic_msgs_1 t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
      and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
    order by t.xid, t.seq limit p_limit
$$;

-- howdah._nonpersistent_1(p_topic, …): as howdah._nonpersistent_0, from the table number 1.
--
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._nonpersistent_1(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns setof howdah.topic_nonpersistent_1
language sql stable
as $$
    select t.* from howdah.topic_nonpersistent_1 t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
      and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
      and t.boot = pg_postmaster_start_time()
    order by t.xid, t.seq limit p_limit
$$;

-- howdah._rows_1(p_topic, …): as howdah._rows_0, from both tables number 1.
--
-- Raises   40001 as that.
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
    select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
        t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, false
    from howdah._persistent_1(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) t
    union all
    select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
        t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, true
    from howdah._nonpersistent_1(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) t
    order by 1, 2 limit p_limit
$$;

-- howdah._persistent_2(p_topic, …): as howdah._persistent_0, from the table number 2.
--
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._persistent_2(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns setof howdah.topic_msgs_2
language sql stable
as $$
    select t.* from howdah.topic_msgs_2 t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
      and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
    order by t.xid, t.seq limit p_limit
$$;

-- howdah._nonpersistent_2(p_topic, …): as howdah._nonpersistent_0, from the table number 2.
--
-- Raises   40001 as that.
-- Role     internal
create or replace function howdah._nonpersistent_2(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns setof howdah.topic_nonpersistent_2
language sql stable
as $$
    select t.* from howdah.topic_nonpersistent_2 t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
      and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true and (t.expires_at <= p_now) is not true
      and t.boot = pg_postmaster_start_time()
    order by t.xid, t.seq limit p_limit
$$;

-- howdah._rows_2(p_topic, …): as howdah._rows_0, from both tables number 2.
--
-- Raises   40001 as that.
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
    select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
        t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, false
    from howdah._persistent_2(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) t
    union all
    select t.xid, t.seq, t.sent_at, t.expires_at, t.destination_id, t.rank, t.is_text, t.content_type, t.body,
        t.headers, t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.client_id, true
    from howdah._nonpersistent_2(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) t
    order by 1, 2 limit p_limit
$$;
