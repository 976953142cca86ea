-- howdah._claim_of_groups(p_lane, p_walk, p_from, p_want, p_all): the first ready messages behind a position whose
-- groups are free.
--
-- Returns  p_want positions in order, locked; NULL if there are fewer, or howdah._claim_groups must look.
-- Role     internal
--
-- It works like howdah._claim_one_of_group, so that no message is taken before an earlier one of its group.
create or replace function howdah._claim_of_groups(
    p_lane howdah.lanes, p_walk howdah.walk, p_from bigint, p_want integer, p_all boolean
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_seqs bigint[];
    v_groups text[];
begin
    if p_all then
        perform howdah._note_first(p_lane, p_walk, p_from);
    end if;
    select array_agg(c.seq order by c.seq), array_agg(c.group_id order by c.seq) into v_seqs, v_groups
    from (select m.seq, howdah._group(m.headers, m.conversation_id) as group_id from howdah.msgs m
          where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_from
            and (m.xmax = 0 or p_all)
            and case when not (select exists (select from howdah.parked p
                        where p.destination_id = p_lane.destination_id and p.group_id is not null))
                    or not exists (select from howdah.parked p
                        where p.destination_id = p_lane.destination_id
                          and p.group_id = howdah._group(m.headers, m.conversation_id) and p.seq < m.seq)
                then howdah._lock_group(p_lane.destination_id,
                    howdah._group(m.headers, m.conversation_id)) is not false end
          order by m.seq limit p_want for update skip locked) c;
    if cardinality(v_seqs) = p_want
       and not exists (
           select from (select m.seq, howdah._group(m.headers, m.conversation_id) as group_id from howdah.msgs m
                        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
                          and m.seq > (select least(p_from, howdah._hint(p_lane.head))) and m.seq < v_seqs[p_want]
                        offset 0) b
           where b.group_id = any (v_groups) and b.seq <> all (v_seqs)
             and b.seq < (select max(c.seq) from unnest(v_seqs, v_groups) c(seq, group_id)
                 where c.group_id = b.group_id))
       and not exists (select from howdah.parked p
           where p.destination_id = p_lane.destination_id and p.group_id = any (v_groups)) then
        return v_seqs;
    end if;
    return null;
end
$$;
