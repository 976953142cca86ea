-- for N in 0, 1, 2:
-- howdah._run_nonpersistent_N(p_name, p_topic_name, p_topic, …): do what howdah._run_persistent_N does, for the
-- non-persistent table number N.
--
-- Raises   40001 as howdah._run_persistent_N.
-- Role     internal
create or replace function howdah._run_nonpersistent_N(
    p_name text, p_topic_name text, p_topic integer, p_xid xid8, p_after bigint, p_upto bigint, p_now timestamptz
) returns setof howdah.message
language sql stable
as $$
    select t.seq * 1000000 + t.destination_id, p_name, case when t.is_text then convert_from(t.body, 'UTF8') end,
        case when not t.is_text then t.body end, t.content_type, t.headers, 9 - t.rank, t.correlation_id, t.reply_to,
        t.message_type, t.conversation_id, 'non-persistent'::text, t.sent_at, t.expires_at, 1, false, t.seq, 0,
        p_topic_name, null::text, null::timestamptz, howdah._level_name(t.reliability, true)
    from howdah.topic_nonpersistent_N t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and t.xid = p_xid and t.seq > p_after and t.seq <= p_upto
      and (t.expires_at <= p_now) is not true
      and t.boot = pg_postmaster_start_time()
    order by t.seq
$$;

-- end for
