-- howdah._choose_of_groups(p_lane, p_from, p_want, p_back): choose the first ready messages behind a position whose
-- groups are free, and lock the groups.
--
-- Returns  positions in order, with their groups: p_want, or fewer if they are of as many groups as a transaction may
--          lock. NULL if there are not so many. mine: these groups, as keys. locked: the messages are locked too.
-- Role     internal
--
-- Whether the groups have another message before, the caller asks in a later statement (howdah._deliver_chosen). That
-- one sees what the groups' last holders did. Without p_back, this call skips what other transactions hold, or held and
-- returned (xmax), and does not try its groups.
--
-- A group's lock keeps receivers from its messages. If there are messages without a group, all messages are locked.
-- They are also locked where others are at work: these then skip them by their xmax instead of trying their groups.
--
-- A statement chooses as many messages as there may be new groups. Once there may be no more, a last statement chooses
-- what these groups have among the next positions. It is left out if each group had one message so far.
create or replace function howdah._choose_of_groups(
    p_lane howdah.lanes, p_from bigint, p_want integer, p_back boolean, out seqs bigint[], out groups text[],
    out mine jsonb, out locked boolean
) returns record
language plpgsql volatile
as $$
declare
    v_most constant integer := howdah._most_groups();
    v_number integer := 0;
    v_page record;
begin
    seqs := '{}';
    groups := '{}';
    mine := '{}';
    locked := p_back or (select m.xmax = 0 and case when not exists (select from howdah.parked p
                where p.destination_id = p_lane.destination_id
                  and p.group_id = howdah._group(m.headers, m.conversation_id) and p.seq < m.seq)
            then howdah._lock_group(p_lane.destination_id, howdah._group(m.headers, m.conversation_id)) end
        from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_from
        order by m.seq limit 1) is not true;
    while cardinality(seqs) < p_want and v_number < v_most loop
        v_page := howdah._next_of_groups(p_lane, coalesce(seqs[cardinality(seqs)], p_from), 9223372036854775807,
            least(v_most - v_number, p_want - cardinality(seqs)), null, p_back, locked);
        if v_page.seqs is null then
            seqs := null;
            return;
        elsif not locked and array_position(v_page.groups, null) is not null then
            locked := true;
            seqs := '{}';
            groups := '{}';
            continue;
        end if;
        seqs := seqs || v_page.seqs;
        groups := groups || v_page.groups;
        mine := mine || jsonb_object(array_remove(v_page.groups, null), array_remove(v_page.groups, null));
        v_number := (select count(*) from jsonb_object_keys(mine));
    end loop;
    if cardinality(seqs) < p_want and cardinality(seqs) > v_number then
        v_page := howdah._next_of_groups(p_lane, seqs[cardinality(seqs)], seqs[cardinality(seqs)] + 2 * p_want,
            p_want - cardinality(seqs), mine, p_back, locked);
        seqs := seqs || v_page.seqs;
        groups := groups || v_page.groups;
    end if;
end
$$;
