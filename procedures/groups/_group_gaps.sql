-- howdah._group_gaps(p_lane, p_keys, p_groups, p_wanted, p_taken, p_want, p_now): the groups of which a message could
-- not be taken.
--
-- Returns  text[]; NULL if there are none. A message that its group's last holder consumed is no gap.
-- Role     internal
create or replace function howdah._group_gaps(
    p_lane howdah.lanes, p_keys bigint[], p_groups text[], p_wanted bigint[], p_taken bigint[], p_want integer,
    p_now timestamptz
) returns text[]
language plpgsql volatile
as $$
declare
    v_wanted bigint[] := case when cardinality(p_taken) < p_want then p_wanted
        else p_wanted[1:array_position(p_wanted, p_taken[cardinality(p_taken)])] end;
    v_missing bigint[];
begin
    if cardinality(p_taken) = cardinality(v_wanted) then
        return null;
    end if;
    v_missing := array(select w from unnest(v_wanted) w where w <> all (p_taken));
    return (
        select array_agg(distinct k.group_id)
        from unnest(p_keys, p_groups) k(key, group_id)
        where k.key = any (v_missing) and k.group_id is not null
          and (exists (select from howdah.msgs m where p_lane.place = 2
                           and m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq = k.key)
               or exists (select from howdah.msgs_nonpersistent n where p_lane.place = 1
                           and n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq = k.key)
               or exists (select from howdah.parked p where p_lane.place = 0
                           and p.destination_id = p_lane.destination_id and p.message_id = k.key)
               or exists (select from howdah.parked p
                          where p.destination_id = p_lane.destination_id and p.group_id = k.group_id
                            and (p_lane.place > 0 or p.due_at > p_now))));
end
$$;
