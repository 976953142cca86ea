-- howdah._claim_one_of_group(p_lane, p_from): the first ready message behind a position that nobody ever had and whose group is to be had.
--
-- Returns  its position, locked; NULL: none, or howdah._claim_groups must look.
-- Role     internal
--
-- One message in two statements. The first passes by what other transactions have, or had and gave back (xmax), without trying the locks of their groups,
-- and may see older rows than the lock of the group lets it have; so the second looks whether one of the group lies before it after all.
create or replace function howdah._claim_one_of_group(p_lane howdah.lanes, p_from bigint) returns bigint
language plpgsql volatile
as $$
declare
    v_row record;
begin
    select m.seq, howdah._group(m.headers, m.conversation_id) as group_id into v_row
    from howdah.msgs m
    where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_from and m.xmax = 0
      and howdah._lock_group(p_lane.destination_id, howdah._group(m.headers, m.conversation_id)) is not false
    order by m.seq limit 1 for update skip locked;
    if v_row.seq is null then
        return null;
    elsif v_row.group_id is null
       or not exists (select from howdah.msgs m
                      where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_from and m.seq < v_row.seq
                        and howdah._group(m.headers, m.conversation_id) = v_row.group_id)
          and not exists (select from howdah.parked p where p.destination_id = p_lane.destination_id and p.group_id = v_row.group_id) then
        return v_row.seq;
    end if;
    return null;
end
$$;

-- howdah._claim_of_groups(p_lane, p_from, p_want): the first ready messages behind a position that nobody ever had and whose groups are to be had.
--
-- Returns  p_want positions in order, locked; NULL: not so many, or howdah._claim_groups must look.
-- Role     internal
--
-- As howdah._claim_one_of_group. So none of a group is taken before one of it that lies before.
create or replace function howdah._claim_of_groups(p_lane howdah.lanes, p_from bigint, p_want integer) returns bigint[]
language plpgsql volatile
as $$
declare
    v_seqs bigint[];
    v_groups text[];
begin
    select array_agg(c.seq order by c.seq), array_agg(c.group_id order by c.seq) into v_seqs, v_groups
    from (select m.seq, howdah._group(m.headers, m.conversation_id) as group_id from howdah.msgs m
          where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_from and m.xmax = 0
            and howdah._lock_group(p_lane.destination_id, howdah._group(m.headers, m.conversation_id)) is not false
          order by m.seq limit p_want for update skip locked) c;
    if cardinality(v_seqs) = p_want
       and not exists (
           select from (select m.seq, howdah._group(m.headers, m.conversation_id) as group_id from howdah.msgs m
                        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_from and m.seq < v_seqs[p_want]
                        offset 0) b
           where b.group_id = any (v_groups) and b.seq <> all (v_seqs)
             and b.seq < (select max(c.seq) from unnest(v_seqs, v_groups) c(seq, group_id) where c.group_id = b.group_id))
       and not exists (select from howdah.parked p where p.destination_id = p_lane.destination_id and p.group_id = any (v_groups)) then
        return v_seqs;
    end if;
    return null;
end
$$;
