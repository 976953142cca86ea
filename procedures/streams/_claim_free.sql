-- howdah._claim_free(p_stream, p_part, p_want): lock the next messages of a shared subscription that are not done and
-- that nobody else has.
--
-- Returns  one row: the transactions and positions of up to p_want messages, in reading order. Both are NULL if there
--          is none.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_stream comes from howdah._begin_stream, and p_part from howdah._part.
--
-- Whether a message is done is asked by its key, so that dead rows of others are not met. Only what is not done is
-- locked. The caller looks again (howdah._keep_claimed): a former holder may have finished with a message meanwhile.
--
-- Two messages may share a lock. The second is then skipped until the first one's transaction ends.
create or replace function howdah._claim_free(
    p_stream record, p_part record, p_want integer, out xids xid8[], out seqs bigint[]
) returns record
language plpgsql volatile
as $$
declare
    -- These are read for each row. A variable is cheaper than a record's field, and a snapshot out of a record is
    -- packed.
    v_topic_id integer := p_stream.topic_id;
    v_ack_id integer := (p_stream.ack_cursor).ack_id;
    v_upto pg_snapshot := p_stream.upto::text::pg_snapshot;
    v_done pg_snapshot := p_part.done::text::pg_snapshot;
    v_moment timestamptz := p_stream.moment;
    v_secret bigint := howdah._lock_key('published', v_ack_id::text);
begin
    case
        -- for N in 0, 1, 2:
        when p_stream.slot = N and not p_stream.nonpersistent then
            select array_agg(k.xid), array_agg(k.seq) into xids, seqs
            from (
                select t.xid, t.seq
                from howdah._persistent_N(v_topic_id, p_part.after, p_part.after_seq, p_part.to_xid, v_done, v_upto,
                    v_moment, null) t
                where case
                    when (select true from howdah.acked a where a.ack_id = v_ack_id and a.seq = t.seq limit 1)
                        then false
                    else pg_try_advisory_xact_lock(hashint8extended(t.seq, v_secret)) end
                limit p_want) k;
        when p_stream.slot = N and p_stream.nonpersistent then
            select array_agg(k.xid), array_agg(k.seq) into xids, seqs
            from (
                select t.xid, t.seq
                from howdah._nonpersistent_N(v_topic_id, p_part.after, p_part.after_seq, p_part.to_xid, v_done, v_upto,
                    v_moment, null) t
                where case
                    when (select true from howdah.acked a where a.ack_id = v_ack_id and a.seq = t.seq limit 1)
                        then false
                    else pg_try_advisory_xact_lock(hashint8extended(t.seq, v_secret)) end
                limit p_want) k;
        -- end for
        else null;
    end case;
end
$$;
