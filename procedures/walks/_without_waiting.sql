-- howdah._without_waiting(p_lane, p_keys, p_now): park those of some locked messages that wait for a delay, because
-- they hold up their groups.
--
-- Returns  the keys of the other messages, except those of the same groups.
-- Role     internal
create or replace function howdah._without_waiting(
    p_lane howdah.lanes, p_keys bigint[], p_now timestamptz
) returns bigint[]
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_row record;
    v_waiting bigint[] := '{}';
    v_groups text[] := '{}';
begin
    for v_row in
        select l.message, l.nonpersistent, howdah._group((l.message).headers, (l.message).conversation_id) as group_id
        from (
            select m as message, false as nonpersistent from howdah.msgs m
            where p_lane.place = 2 and m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
              and m.seq = any (p_keys)
            union all
            select howdah._as_ready(n), true from howdah.msgs_nonpersistent n
            where p_lane.place = 1 and n.destination_id = p_lane.destination_id and n.rank = p_lane.rank
              and n.seq = any (p_keys)
        ) l
        where exists (select from howdah.poison_details p
                      where p.message_id = (l.message).message_id and p.stage = (l.message).stage and p.due_at > p_now)
          and howdah._waits_until(p_lane.destination_id, (l.message).message_id, (l.message).stage) > p_now
    loop
        perform howdah._dispose(p_lane.destination_id, v_row.message, v_row.nonpersistent,
            case when v_row.nonpersistent then 'msgs_nonpersistent' else 'msgs' end, p_now);
        v_waiting := v_waiting || (v_row.message).seq;
        v_groups := v_groups || v_row.group_id;
    end loop;
    if v_waiting = '{}' then
        return p_keys;
    end if;
    return array(
        select k.key from unnest(p_keys) with ordinality k(key, n)
        left join howdah.msgs m on p_lane.place = 2 and m.destination_id = p_lane.destination_id
        and m.rank = p_lane.rank and m.seq = k.key
        left join howdah.msgs_nonpersistent o
            on p_lane.place = 1 and o.destination_id = p_lane.destination_id and o.rank = p_lane.rank and o.seq = k.key
        where k.key <> all (v_waiting)
          and (howdah._group(coalesce(m.headers, o.headers),
              coalesce(m.conversation_id, o.conversation_id)) = any (v_groups)) is not true
        order by k.n);
end
$$;
