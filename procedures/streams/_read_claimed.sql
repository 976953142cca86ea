-- howdah._read_claimed(p_stream, p_name, p_xids, p_seqs): the messages at positions that the caller has claimed.
--
-- Returns  howdah.message of each, in reading order.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_xids and p_seqs are as howdah._claim_free returned them. What one transaction published with successive numbers is
-- read as a run.
create or replace function howdah._read_claimed(p_stream record, p_name text, p_xids xid8[], p_seqs bigint[])
returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_topic text := p_stream.topic;
    v_topic_id integer := p_stream.topic_id;
    v_upto pg_snapshot := p_stream.upto::text::pg_snapshot;
    v_moment timestamptz := p_stream.moment;
    v_number integer := cardinality(p_seqs);
    v_first bigint := p_seqs[1];
    v_last bigint := p_seqs[v_number];
    v_run boolean := p_xids[1] = p_xids[v_number] and v_last - v_first = v_number - 1;
begin
    case
        -- for N in 0, 1, 2:
        when p_stream.slot = N and not p_stream.nonpersistent and v_run then
            return query select * from howdah._run_persistent_N(p_name, v_topic, v_topic_id, p_xids[1], v_first - 1,
                v_last, v_moment);
        when p_stream.slot = N and not p_stream.nonpersistent then
            return query
            select m.* from howdah._stream_persistent_N(p_name, v_topic, v_topic_id, p_xids[1], v_first - 1,
                p_xids[v_number], null, v_upto, v_moment, null) m
            where m."position" = any (p_seqs) limit v_number;
        when p_stream.slot = N and v_run then
            return query select * from howdah._run_nonpersistent_N(p_name, v_topic, v_topic_id, p_xids[1], v_first - 1,
                v_last, v_moment);
        when p_stream.slot = N then
            return query
            select m.* from howdah._stream_nonpersistent_N(p_name, v_topic, v_topic_id, p_xids[1], v_first - 1,
                p_xids[v_number], null, v_upto, v_moment, null) m
            where m."position" = any (p_seqs) limit v_number;
        -- end for
        else null;
    end case;
end
$$;
