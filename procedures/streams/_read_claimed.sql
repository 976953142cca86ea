-- howdah._read_claimed(p_slot, p_nonpersistent, p_topic_id, p_topic, p_name, p_xids, p_seqs, p_upto, p_now): the
-- messages at positions that the caller has claimed.
--
-- Returns  howdah.message of each, in reading order.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_xids and p_seqs are as howdah._claim_free returned them. What one transaction published with successive numbers is
-- read as a run.
create or replace function howdah._read_claimed(
    p_slot integer, p_nonpersistent boolean, p_topic_id integer, p_topic text, p_name text, p_xids xid8[],
    p_seqs bigint[], p_upto pg_snapshot, p_now timestamptz
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_number integer := cardinality(p_seqs);
    v_first bigint := p_seqs[1] - 1;
    v_last bigint := p_seqs[v_number];
    v_from xid8 := p_xids[1];
    v_to xid8 := p_xids[v_number];
    v_run boolean := v_from = v_to and v_last - v_first = v_number;
begin
    case
        -- for N in 0, 1, 2, MODE in persistent, nonpersistent:
        when p_slot = N and OF_MODE p_nonpersistent and v_run then
            return query
            select * from howdah._run_MODE_N(p_name, p_topic, p_topic_id, v_from, v_first, v_last, p_now);
        when p_slot = N and OF_MODE p_nonpersistent then
            return query
            select m.* from howdah._stream_MODE_N(p_name, p_topic, p_topic_id, v_from, v_first, v_to, null,
                p_upto, p_now, null) m
            where m."position" = any (p_seqs) limit v_number;
        -- end for
    end case;
end
$$;
