-- howdah._is_plain(p_destination_id, p_groups): whether nothing but the main lane of a queue can have a message to
-- give.
--
-- Returns  boolean; false too if the queue's message groups are not p_groups, none or transaction.
-- Role     internal
--
-- Its other lanes, if it has any, hold parked messages only, and none of those is due. A lane of a row without hints is
-- asked for by the row that has them, if there is one; lanes of groups are walked from their beginning, and so need
-- none.
create or replace function howdah._is_plain(p_destination_id integer, p_groups text default 'none') returns boolean
language plpgsql volatile
as $$
begin
    return exists (select from howdah.destinations d
                   where d.id = p_destination_id and not d.strict_order and d.backout_count <> 'hardened'
                     and d.message_groups = p_groups and d.delivery_policy = 'shared')
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
