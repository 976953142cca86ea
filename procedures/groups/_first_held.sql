-- howdah._first_held(p_lane, p_groups, p_now): the parked messages whose turn it is, of groups that parked messages
-- hold up.
--
-- Returns  their ids (bigint[]): the first of each group, if it is due and no message of the group lies ready before
--          it.
-- Role     internal
create or replace function howdah._first_held(p_lane howdah.lanes, p_groups text[], p_now timestamptz) returns bigint[]
language plpgsql volatile
as $$
declare
    v_floor bigint := (select case when d.main_rank = p_lane.rank then howdah._hint(d.head) else 0 end
                       from howdah.destinations d where d.id = p_lane.destination_id);
begin
    return array(
        select w.message_id
        from (select distinct on (p.group_id) p.group_id, p.message_id, p.seq, p.due_at from howdah.parked p
              where p.destination_id = p_lane.destination_id and p.group_id = any (p_groups) order by p.group_id,
              p.seq) w
        where w.due_at <= p_now
          and not exists (select from howdah.msgs m
                          where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > v_floor
                            and m.seq < w.seq
                            and howdah._group(m.headers, m.conversation_id) = w.group_id)
          and not exists (select from howdah.msgs_nonpersistent n
                          where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq < w.seq
                            and n.boot = pg_postmaster_start_time()
                            and howdah._group(n.headers, n.conversation_id) = w.group_id));
end
$$;
