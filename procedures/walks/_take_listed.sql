-- howdah._take_listed(p_lane, p_walk, p_want, p_note): lock messages that the selector's looks found ahead.
--
-- Returns  up to p_want positions, ascending, and the position up to which looks found everything. If none is recorded,
--          that is the selector's head. It also says whether nothing that they found is left before that, neither free
--          nor in use.
-- Role     internal
--
-- p_note: move the selector's head up to the first message that is left. That takes a statement, so it is done after 16
-- positions. The caller calls howdah._hides_nothing before it locks anything.
create or replace function howdah._take_listed(
    p_lane howdah.lanes, p_walk howdah.walk, p_want integer, p_note boolean, out keys bigint[], out upto bigint,
    out clear boolean
) returns record
language plpgsql volatile
as $$
declare
    v_digest constant uuid := md5(p_walk.selector)::uuid;
    v_head bigint := howdah._hint(p_lane.head);
    v_row record;
    v_start integer;
    v_next integer;
    v_size integer;
    v_first bigint;
begin
    keys := '{}';
    upto := v_head;
    clear := true;
    loop
        select c.after, c.upto, c.seqs, c.message_ids into v_row from howdah.candidates c
        where c.destination_id = p_lane.destination_id and c.digest = v_digest and c.rank = p_lane.rank
          and c.upto > _take_listed.upto and c.selector = p_walk.selector
        order by c.upto limit 1;
        exit when v_row.upto is null or v_row.after > upto;
        upto := v_row.upto;
        v_start := width_bucket(v_head, v_row.seqs);
        v_next := v_start;
        while v_next < cardinality(v_row.seqs) and cardinality(keys) < p_want loop
            v_size := p_want - cardinality(keys) + 16;
            keys := keys || howdah._lock_listed(p_lane, v_row.seqs[v_next + 1:v_next + v_size],
                v_row.message_ids[v_next + 1:v_next + v_size], p_want - cardinality(keys));
            v_next := v_next + v_size;
        end loop;
        if clear then
            v_next := case when cardinality(keys) = 0 then cardinality(v_row.seqs)
                else width_bucket(keys[1], v_row.seqs) - 1 end;
            if v_next > v_start + 16 or cardinality(keys) = 0 then
                v_first := (select l.seq from unnest(v_row.seqs[v_start + 1:v_next]) u(seq) cross join lateral (
                                select m.seq from howdah.msgs m
                                where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
                                  and m.seq = u.seq
                                offset 0
                            ) l limit 1);
                if p_note then
                    perform howdah._advance(p_lane.head, coalesce(v_first - 1, keys[1] - 1, upto));
                end if;
                clear := v_first is null;
            end if;
            clear := clear and cardinality(keys) = 0;
        end if;
        exit when cardinality(keys) >= p_want;
    end loop;
end
$$;
