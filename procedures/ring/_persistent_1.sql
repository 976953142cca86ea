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
