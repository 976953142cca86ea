-- howdah._link_chunk(p_source_id, p_last, p_most, p_bytes): how many of the next messages of a queue have bodies of at
-- most p_bytes together.
--
-- Returns  integer, 1 to p_most.
-- Role     internal
--
-- It looks behind the last message received, p_last, and reads no body. It does not see a message that comes back from
-- elsewhere meanwhile, which adds little. If it sees no message, it returns eight.
create or replace function howdah._link_chunk(
    p_source_id integer, p_last howdah.message, p_most integer, p_bytes bigint
) returns integer
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_rank constant integer := 9 - p_last.priority;
    v_seen bigint;
    v_fit bigint;
begin
    select count(*), count(*) filter (where u.upto <= p_bytes) into v_seen, v_fit
    from (
        select sum(b.bytes) over (order by b.rank, b.seq) as upto
        from (
            (select m.rank, m.seq, howdah._body_bytes(m.body, m.message_id) as bytes from howdah.msgs m
             where m.destination_id = p_source_id and (m.rank, m.seq) > (v_rank, p_last."position")
             order by m.rank, m.seq limit p_most)
            union all
            (select n.rank, n.seq, octet_length(n.body) from howdah.msgs_nonpersistent n
             where n.destination_id = p_source_id and (n.rank, n.seq) > (v_rank, p_last."position")
             order by n.rank, n.seq limit p_most)
        ) b
    ) u;
    return greatest(least(case when v_seen = 0 then 8 else v_fit end, p_most), 1);
end
$$;
