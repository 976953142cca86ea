-- howdah._find_run(p_stream, p_after, p_after_seq, p_to, p_most): find the next run of a stream: messages that one
-- transaction published with successive numbers.
--
-- Returns  one row: the transaction, and the numbers after after_seq up to upto_seq, at most p_most of them. All are
--          NULL if nothing is there.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_stream comes from howdah._begin_stream. The other arguments give the part to read, as in howdah._persistent_0. The
-- cursor has passed nothing in it: it is no part where something committed late.
--
-- Only the ends of the run are read. A reader of as many messages as there are numbers has read them all, and knows
-- the last one without looking at any. If there are fewer, others drew some of the numbers, or some messages have
-- expired. They must then be looked at.
create or replace function howdah._find_run(
    p_stream record, p_after xid8, p_after_seq bigint, p_to xid8, p_most bigint,
    out xid xid8, out after_seq bigint, out upto_seq bigint
) returns record
language plpgsql volatile
as $$
declare
    v_topic_id integer := p_stream.topic_id;
    v_upto pg_snapshot := p_stream.upto::text::pg_snapshot;  -- a snapshot out of a record is packed
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
