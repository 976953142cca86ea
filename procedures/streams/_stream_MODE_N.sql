-- for N in 0, 1, 2, MODE in persistent, nonpersistent:
-- howdah._stream_MODE_N(p_name, p_topic_name, p_topic, …): the messages that howdah._MODE_N reads, as a subscription's
-- consumer gets them.
--
-- Returns  setof howdah.message, delivered once and never failed. p_name is the subscription's name; the arguments
--          after p_topic_name are those of howdah._MODE_N.
-- Raises   40001 as howdah._MODE_N.
-- Role     internal
--
-- It becomes part of the statement that calls it, like howdah._MODE_N.
create or replace function howdah._stream_MODE_N(
    p_name text, p_topic_name text, p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_done pg_snapshot,
    p_upto pg_snapshot, p_now timestamptz, p_limit bigint
) returns setof howdah.message
language sql stable
as $$
    select r.seq * 1000000 + r.destination_id, p_name,
        CONTENT_OF r,
        'MODE_NAME'::text, r.sent_at, r.expires_at, 1, false, r.seq, 0,
        p_topic_name, null::text, null::timestamptz, howdah._level_name(r.reliability, MODE_FLAG)
    from howdah._MODE_N(p_topic, p_after, p_after_seq, p_to, p_done, p_upto, p_now, p_limit) r
$$;

-- end for
