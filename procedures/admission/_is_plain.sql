-- howdah._is_plain(p_destination_id, p_groups): whether only the main lane of a queue can have a message to give.
--
-- Returns  boolean; also false if the queue's message_groups is not p_groups (none or transaction).
-- Role     internal
--
-- Its other lanes, if there are any, hold only parked messages, and none of these is due. A lane's row without hints is
-- covered by the row with hints, if there is one. Lanes of groups are walked from their beginning, and need no hints.
--
-- The first statement answers for lanes without a head. It names few columns, for a session prepares each anew. The
-- second one answers for lanes with a head, and after a slow look, which howdah._may_be_due notes. The index of lanes
-- gives a row with hints before one without. So the first statement does not walk over the dead rows before a head.
create or replace function howdah._is_plain(p_destination_id integer, p_groups text default 'none') returns boolean
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_now timestamptz := howdah.now();
    v_busy boolean;
begin
    v_busy := not exists (select from howdah.destinations d
                          where d.id = p_destination_id and not d.strict_order and d.backout_count <> 'hardened'
                            and d.message_groups = p_groups and d.delivery_policy = 'shared' and not d.limited)
        or exists (select from howdah.consumers c where c.destination_id = p_destination_id and c.exclusive)
        or (select o.place > 0 or (pg_sequence_last_value(o.head) > 0) is not true
            from howdah.lanes o
            where o.destination_id = p_destination_id
              and (o.place > 0 or pg_sequence_last_value(o.head) > 0
                   -- not exists: that would drop the order, and a plan could then walk all rows by number
                   or (select true from howdah.parked p
                       where p.destination_id = p_destination_id and p.rank = o.rank and p.due_at <= v_now
                       order by p.due_at, p.seq limit 1)
                   or (select true from howdah.leases e
                       where e.destination_id = p_destination_id and e.rank = o.rank and e.until <= v_now
                       order by e.until limit 1))
            limit 1);
    if v_busy then
        return false;
    elsif v_busy is null and (p_groups <> 'none' or clock_timestamp() - v_begun < interval '500 us') then
        return true;
    end if;
    return not exists (select from howdah.lanes l
                       where l.destination_id = p_destination_id
                         and (l.place > 0
                              or (l.head is not null
                                  or not exists (select from howdah.lanes o
                                                 where o.destination_id = l.destination_id and o.rank = l.rank
                                                   and o.place = l.place and o.head is not null))
                                 and howdah._may_be_due(case when p_groups = 'none' then l
                                                             else row(l.id, l.destination_id, l.rank, l.place, null,
                                                                 null)::howdah.lanes end, v_now)));
end
$$;
