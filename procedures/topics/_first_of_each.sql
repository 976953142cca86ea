-- howdah._first_of_each(p_topics, p_after, p_after_seqs, p_slots, p_upto): the first message of topics after each of
-- several places.
--
-- Returns  the place's number, and seq and sent_at of the message; no row where there is none.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- Each table has a statement of its own, as in howdah._topic_page.
create or replace function howdah._first_of_each(
    p_topics integer[], p_after xid8[], p_after_seqs bigint[], p_slots integer[], p_upto pg_snapshot
)
returns table (number bigint, seq bigint, sent_at timestamptz)
language plpgsql volatile rows 100
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
    set jit = off
as $$
declare
    v_to constant xid8 := pg_snapshot_xmax(p_upto);
begin
    case
        -- for N in 0, 1, 2:
        when p_slots = array[N] then
            return query
            select u.number, r.seq, r.sent_at
            from unnest(p_topics, p_after, p_after_seqs) with ordinality u(topic, after, after_seq, number)
            cross join lateral howdah._rows_N(u.topic, u.after, u.after_seq, v_to, null, p_upto, null, 1) r;
        -- end for
        else
            return query
            select u.number, r.seq, r.sent_at
            from unnest(p_topics, p_after, p_after_seqs) with ordinality u(topic, after, after_seq, number)
            cross join lateral howdah._topic_page(p_slots, u.topic, u.after, u.after_seq, v_to, p_upto, 1) r;
    end case;
end
$$;
