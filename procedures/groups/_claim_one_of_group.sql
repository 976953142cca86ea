-- howdah._claim_one_of_group(p_lane, p_walk, p_from, p_all): the first ready message behind a position whose group is
-- free.
--
-- Returns  its position, locked; NULL if there is none, or howdah._claim_groups must look.
-- Role     internal
--
-- It takes one message in two statements. Without p_all, the first skips what other transactions hold, or held and
-- returned (xmax), without trying the locks of those groups. In either case it skips what waits behind a parked
-- message. It may see older rows than the group's lock allows. So the second looks for an earlier message of the group,
-- also behind a head that was set back meanwhile (howdah._walk_back).
--
-- p_all includes messages that were returned, and records where the next calls start (howdah._walk_note).
create or replace function howdah._claim_one_of_group(
    p_lane howdah.lanes, p_walk howdah.walk, p_from bigint, p_all boolean
) returns bigint
language plpgsql volatile
as $$
declare
    v_row record;
begin
    if p_all then
        perform howdah._note_first(p_lane, p_walk, p_from);
    end if;
    select m.seq, howdah._group(m.headers, m.conversation_id) as group_id into v_row
    from howdah.msgs m
    where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_from and (m.xmax = 0 or p_all)
      and case when not exists (select from howdah.parked p
              where p.destination_id = p_lane.destination_id
                and p.group_id = howdah._group(m.headers, m.conversation_id) and p.seq < m.seq)
          then howdah._lock_group(p_lane.destination_id, howdah._group(m.headers, m.conversation_id)) is not false end
    order by m.seq limit 1 for update skip locked;
    if v_row.seq is null then
        return null;
    elsif v_row.group_id is null
       or not exists (select from howdah.msgs m
                      where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
                        and m.seq > (select least(p_from, howdah._hint(p_lane.head))) and m.seq < v_row.seq
                        and howdah._group(m.headers, m.conversation_id) = v_row.group_id)
          and not exists (select from howdah.parked p
              where p.destination_id = p_lane.destination_id and p.group_id = v_row.group_id) then
        return v_row.seq;
    end if;
    return null;
end
$$;
