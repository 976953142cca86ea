-- pgmq._expire(p_destination_id, p_rank, p_seqs, p_now): dispose of expired messages among the ready ones at these
-- positions, and of those within the next 1000.
--
-- Returns  how many there were (integer).
-- Role     internal
--
-- A read that only skipped them would meet them again, and find nothing behind them.
create or replace function pgmq._expire(p_destination_id integer, p_rank smallint, p_seqs bigint[], p_now timestamptz)
returns integer
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_message howdah.msgs;
    v_count integer := 0;
begin
    for v_message in
        delete from howdah.msgs m
        where m.ctid = any (array(
            select o.ctid from howdah.msgs o
            where o.destination_id = p_destination_id and o.rank = p_rank
              and o.seq between p_seqs[1] and p_seqs[cardinality(p_seqs)] + 1000 and o.expires_at <= p_now
            order by o.seq limit 1000 for update skip locked))
        returning m.*
    loop
        perform howdah._dispose(p_destination_id, v_message, false, null, p_now);
        v_count := v_count + 1;
    end loop;
    return v_count;
end
$$;
