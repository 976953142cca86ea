-- howdah._first_held(p_lane, p_walk, p_groups, p_now): the parked messages whose turn it is, of groups that parked
-- messages hold up.
--
-- Returns  their ids (bigint[]): the first of each group, if it is due. It has no turn if the walk's selector and share
--          allow a message of the group that lies ready before it.
-- Role     internal
create or replace function howdah._first_held(
    p_lane howdah.lanes, p_walk howdah.walk, p_groups text[], p_now timestamptz
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_floor bigint;
    v_first record;
    v_ids bigint[] := '{}';
begin
    for v_first in
        select w.message_id, w.group_id, w.seq
        from (select distinct on (p.group_id) p.group_id, p.message_id, p.seq, p.due_at from howdah.parked p
              where p.destination_id = p_lane.destination_id and p.group_id = any (p_groups) order by p.group_id,
              p.seq) w
        where w.due_at <= p_now
    loop
        -- after the parked message was seen: what came back since has set the head back (howdah._walk_back)
        -- Without a mark, the head is of before the groups (howdah._walk_from).
        v_floor := (select case when d.main_rank = p_lane.rank
                            and howdah._hint(to_regclass('howdah.mark_' || d.id)) >> 32 <> 0 then howdah._hint(d.head)
                        else 0 end
                    from howdah.destinations d where d.id = p_lane.destination_id);
        if p_walk.condition is not null or p_walk.share is not null then
            continue when exists (
                select from generate_series(1, 2) places(place)
                cross join lateral howdah._walk_rows(row(places.place, p_lane.destination_id, p_lane.rank, places.place,
                    null, null)::howdah.lanes, p_walk, case places.place when 1 then 0 else v_floor end, v_first.seq,
                    null, null, p_now) r
                where r.group_id = v_first.group_id and r.seq < v_first.seq);
        else
            continue when exists (
                select from howdah.msgs m
                where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > v_floor
                  and m.seq < v_first.seq and howdah._group(m.headers, m.conversation_id) = v_first.group_id)
            or exists (
                select from howdah.msgs_nonpersistent n
                where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq < v_first.seq
                  and n.boot = pg_postmaster_start_time()
                  and howdah._group(n.headers, n.conversation_id) = v_first.group_id);
        end if;
        v_ids := v_ids || v_first.message_id;
    end loop;
    return v_ids;
end
$$;
