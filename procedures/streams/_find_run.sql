-- howdah._find_run(p_stream, p_after, p_after_seq, p_to, p_most): the next messages of a stream that one transaction
-- published with successive numbers, as far as its ends tell.
--
-- Returns  one row: the transaction, and the numbers between which they lie: after after_seq, up to upto_seq, p_most at
--          most. All NULL: nothing is there.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_stream: of howdah._begin_stream; the rest: the part that is to be read, as howdah._persistent_0, in which nothing
-- is that the cursor has passed: not where something committed late. Whoever then reads as many messages as there are
-- numbers has read them all, and knows the last without looking at any. If they are fewer (others drew some of the
-- numbers, or some have expired) they are to be looked at.
create or replace function howdah._find_run(
    p_stream record, p_after xid8, p_after_seq bigint, p_to xid8, p_most bigint,
    out xid xid8, out after_seq bigint, out upto_seq bigint
) returns record
language plpgsql volatile
as $$
declare
    v_topic_id integer := p_stream.topic_id;
    v_upto pg_snapshot := p_stream.upto::text::pg_snapshot;  -- out of a record it is packed
begin
    case
        -- for N in 0, 1, 2:
        when p_stream.slot = N and not p_stream.nonpersistent then
            select f.xid, f.seq - 1, (select t.seq from howdah.topic_msgs_N t
                where t.destination_id = v_topic_id and t.xid = f.xid and t.seq < f.seq + p_most
                order by t.seq desc limit 1)
            into xid, after_seq, upto_seq
            from howdah._persistent_N(v_topic_id, p_after, p_after_seq, p_to, null, v_upto, null, 1) f;
        when p_stream.slot = N and p_stream.nonpersistent then
            select f.xid, f.seq - 1, (select t.seq from howdah.topic_nonpersistent_N t
                where t.destination_id = v_topic_id and t.xid = f.xid and t.seq < f.seq + p_most
                order by t.seq desc limit 1)
            into xid, after_seq, upto_seq
            from howdah._nonpersistent_N(v_topic_id, p_after, p_after_seq, p_to, null, v_upto, null, 1) f;
        -- end for
        else null;
    end case;
end
$$;
