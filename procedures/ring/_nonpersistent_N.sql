-- for N in 0, 1, 2:
-- howdah._nonpersistent_N(p_topic, …): the non-persistent messages of a topic in reading order, from the table number
-- N.
--
-- Returns  as howdah._persistent_N, from this start of the server.
-- Raises   40001 as howdah._persistent_N.
-- Role     internal
create or replace function howdah._nonpersistent_N(
    p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot,
    p_now timestamptz, p_limit bigint
) returns setof howdah.topic_nonpersistent_N
language sql stable
as $$
    select t.* from howdah.topic_nonpersistent_N t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and (t.xid, t.seq) > (p_after, p_after_seq) and t.xid <= p_to
      and pg_visible_in_snapshot(t.xid, p_upto) and pg_visible_in_snapshot(t.xid, p_done) is not true
      and (t.expires_at <= p_now) is not true
      and t.boot = pg_postmaster_start_time()
    order by t.xid, t.seq limit p_limit
$$;

-- end for
