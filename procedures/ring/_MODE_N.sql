-- for N in 0, 1, 2, MODE in persistent, nonpersistent:
-- howdah._MODE_N(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit): the MODE_NAME messages of a
-- topic in reading order, from the table number N.
--
-- Returns  up to p_limit rows. They belong to transactions up to p_to and lie after the message (p_after, p_after_seq).
--          They are visible in p_upto and not in p_done (NULL: any), and have not expired at p_now (NULL: any).
--          Non-persistent ones were stored since the server started.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- It is STABLE and has one statement, so that the planner inlines it into the calling statement. So no copy is made,
-- and columns that the statement does not use are not read. The caller allows only index scans, which give the order,
-- so that a small limit reads little.
create or replace function howdah._MODE_N(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot,
    p_now timestamptz, p_limit bigint
) returns setof howdah.MODE_TABLE_N
language sql stable
as $$
    select t.* from howdah.MODE_TABLE_N t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
      and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true
      and (t.expires_at <= p_now) is not true and MODE_HOLDS
    order by t.xid, t.seq limit p_limit
$$;

-- end for
