-- for N in 0, 1, 2, MODE in persistent, nonpersistent:
-- howdah._run_MODE_N(p_name, p_topic_name, p_topic, p_xid, p_after, p_upto, p_now): the messages that one
-- transaction published with numbers after p_after up to p_upto, as a subscription's consumer gets them.
--
-- Returns  setof howdah.message, as howdah._stream_MODE_N: those that have not expired at p_now. Non-persistent ones
--          were stored since the server started. The transaction must be visible in the snapshot that is read up to.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- It becomes part of the statement that calls it. No snapshot is asked about each message, and the index compares less
-- than where several transactions are read.
create or replace function howdah._run_MODE_N(
    p_name text, p_topic_name text, p_topic integer, p_xid xid8, p_after bigint, p_upto bigint, p_now timestamptz
) returns setof howdah.message
language sql stable
as $$
    select t.seq * 1000000 + t.destination_id, p_name,
        CONTENT_OF t,
        'MODE_NAME'::text, t.sent_at, t.expires_at, 1, false, t.seq, 0,
        p_topic_name, null::text, null::timestamptz, howdah._level_name(t.reliability, MODE_FLAG)
    from howdah.MODE_TABLE_N t
    where howdah._same_ring((select max(r.truncations) from howdah.topic_ring r))
      and t.destination_id = p_topic and t.xid = p_xid and t.seq > p_after and t.seq <= p_upto
      and (t.expires_at <= p_now) is not true and MODE_HOLDS
    order by t.seq
$$;

-- end for
