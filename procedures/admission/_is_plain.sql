-- howdah._is_plain(p_destination_id, p_groups): whether only the main lane of a queue can have a message to give.
--
-- Returns  boolean; also false if the queue's message_groups is not p_groups (none or transaction).
-- Role     internal
--
-- Its other lanes, if there are any, hold only parked messages, and none of these is due. A lane's row without hints is
-- covered by the row with hints, if there is one. Lanes of groups are walked from their beginning, and need no hints.
create or replace function howdah._is_plain(p_destination_id integer, p_groups text default 'none') returns boolean
language plpgsql volatile
as $$
begin
    return exists (select from howdah.destinations d
                   where d.id = p_destination_id and not d.strict_order and d.backout_count <> 'hardened'
                     and d.message_groups = p_groups and d.delivery_policy = 'shared' and not d.limited)
        and not exists (select from howdah.consumers c where c.destination_id = p_destination_id and c.exclusive)
        and not exists (select from howdah.lanes l
                        where l.destination_id = p_destination_id
                          and (l.place > 0
                               or (l.head is not null
                                   or not exists (select from howdah.lanes o
                                                  where o.destination_id = l.destination_id and o.rank = l.rank
                                                    and o.place = l.place and o.head is not null))
                                  and howdah._may_be_due(case when p_groups = 'none' then l
                                                              else row(l.id, l.destination_id, l.rank, l.place, null,
                                                                  null)::howdah.lanes end, howdah.now())));
end
$$;
