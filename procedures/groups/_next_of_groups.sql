-- howdah._next_of_groups(p_lane, p_after, p_upto, p_want, p_mine, p_back, p_locked): the next ready messages between
-- two positions whose groups are free, and that wait behind no parked message.
--
-- Returns  up to p_want positions in order, with their groups; NULL if there are none. The groups are locked, and with
--          p_locked the messages too.
-- Role     internal
--
-- p_mine: groups of the caller, as keys; the call looks only for their messages and those without a group. p_back: it
-- includes what other transactions held and returned (xmax).
create or replace function howdah._next_of_groups(
    p_lane howdah.lanes, p_after bigint, p_upto bigint, p_want integer, p_mine jsonb, p_back boolean, p_locked boolean,
    out seqs bigint[], out groups text[]
) returns record
language plpgsql volatile
as $$
begin
    if p_locked then
        select array_agg(c.seq order by c.seq), array_agg(c.group_id order by c.seq) into seqs, groups
        from (select m.seq, howdah._group(m.headers, m.conversation_id) as group_id from howdah.msgs m
              where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_after
                and m.seq <= p_upto and (m.xmax = 0 or p_back)
                and case when (select exists (select from howdah.parked p
                            where p.destination_id = p_lane.destination_id and p.group_id is not null))
                        and exists (select from howdah.parked p
                            where p.destination_id = p_lane.destination_id
                              and p.group_id = howdah._group(m.headers, m.conversation_id) and p.seq < m.seq)
                    then false
                    when p_mine is null then howdah._lock_group(p_lane.destination_id,
                        howdah._group(m.headers, m.conversation_id))
                    else p_mine ? howdah._group(m.headers, m.conversation_id) end is not false
              order by m.seq limit p_want for update skip locked) c;
    else
        select array_agg(c.seq order by c.seq), array_agg(c.group_id order by c.seq) into seqs, groups
        from (select m.seq, howdah._group(m.headers, m.conversation_id) as group_id from howdah.msgs m
              where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_after
                and m.seq <= p_upto and m.xmax = 0
                and case when (select exists (select from howdah.parked p
                            where p.destination_id = p_lane.destination_id and p.group_id is not null))
                        and exists (select from howdah.parked p
                            where p.destination_id = p_lane.destination_id
                              and p.group_id = howdah._group(m.headers, m.conversation_id) and p.seq < m.seq)
                    then false
                    when p_mine is null then howdah._lock_group(p_lane.destination_id,
                        howdah._group(m.headers, m.conversation_id))
                    else p_mine ? howdah._group(m.headers, m.conversation_id) end is not false
              order by m.seq limit p_want) c;
    end if;
end
$$;
