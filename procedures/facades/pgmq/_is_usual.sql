-- pgmq._is_usual(p_destination_id, p_rank): whether all messages of a queue lie in its main lane or are parked there, and
-- nothing but their numbers gives them an order.
--
-- Returns  boolean.
-- Role     internal
create or replace function pgmq._is_usual(p_destination_id integer, p_rank smallint) returns boolean
language sql volatile
as $$
    select exists (select from howdah.destinations d
                   where d.id = p_destination_id and not d.strict_order and d.backout_count <> 'hardened'
                     and d.message_groups = 'none' and d.delivery_policy = 'shared')
        and not exists (select from howdah.consumers c where c.destination_id = p_destination_id and c.exclusive)
        and not exists (select from howdah.lanes l
                        where l.destination_id = p_destination_id and (l.place > 0 or l.rank <> p_rank))
$$;
