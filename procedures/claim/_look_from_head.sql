-- howdah._look_from_head(p_lane, p_head, p_want, p_all): do what howdah._look_nonpersistent does, where looks from the
-- beginning are slow.
--
-- Role     internal
--
-- It works as in the main lane (back and head of howdah._next_positions), whose sequence gives the positions. It looks
-- behind the head if a step is due or p_all is set, then from the head on. It draws no tickets: SKIP LOCKED tells
-- receivers apart.
create or replace function howdah._look_from_head(
    p_lane howdah.lanes, p_head bigint, p_want integer, p_all boolean
) returns tid[]
language plpgsql volatile
as $$
declare
    v_tail bigint := (select howdah._hint(d.positions) from howdah.destinations d where d.id = p_lane.destination_id);
    v_head bigint := p_head;
    v_seqs bigint[] := '{}';
    v_back bigint[];
    v_tids tid[] := '{}';
    v_taken integer;
begin
    if v_head > v_tail then
        v_head := setval(p_lane.head, v_tail);
    end if;
    if p_all or howdah._is_due(howdah._hint(p_lane.search), howdah._pace(clock_timestamp())) then
        v_back := howdah._search(p_lane, v_head, p_want, p_all);
    end if;
    if coalesce(cardinality(v_back), 0) < p_want then
        -- If the search found something, skip the place before the head: it was just looked at, and would be met again.
        select coalesce(array_agg(f.ctid), '{}'), coalesce(array_agg(f.seq), '{}') into v_tids, v_seqs
        from (select n.ctid, n.seq from howdah.msgs_nonpersistent n
              where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank
                and n.seq > case when cardinality(v_back) > 0 then v_head else v_head - 16 end
                and n.boot = pg_postmaster_start_time()
              order by n.seq limit p_want - coalesce(cardinality(v_back), 0) for update skip locked) f;
        v_taken := cardinality(v_seqs);
        if v_taken > 0 and v_seqs[1] <= v_head then
            v_back := howdah._search(p_lane, greatest(v_head, v_seqs[v_taken]), p_want, false);
            v_seqs := v_back;
            v_tids := '{}';
        elsif v_taken + coalesce(cardinality(v_back), 0) < p_want
           and v_tail - 64 > coalesce(v_seqs[v_taken], v_head) then
            -- This is a gap, or positions of other lanes. The last 64 may belong to transactions about to commit.
            v_seqs := array[v_tail - 64];
        end if;
        if v_seqs[cardinality(v_seqs)] > v_head then
            perform howdah._advance(p_lane.head, v_seqs[cardinality(v_seqs)]);
        end if;
    end if;
    return array(
        select n.ctid from unnest(v_back) b(seq)
        cross join lateral (select n.ctid from howdah.msgs_nonpersistent n
                            where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq = b.seq
                            limit 1) n
    ) || v_tids;
end
$$;
