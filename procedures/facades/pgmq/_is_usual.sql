-- pgmq._is_usual(p_destination): whether all messages of a queue lie in its main lane or are parked there, and nothing
-- but their numbers says which comes next.
--
-- Returns  boolean.
-- Role     internal
create or replace function pgmq._is_usual(p_destination howdah.destinations) returns boolean
language sql volatile
as $$
    select not p_destination.limited and not p_destination.strict_order and p_destination.backout_count <> 'hardened'
        and p_destination.message_groups = 'none' and p_destination.delivery_policy = 'shared'
        and not exists (select from howdah.consumers c where c.destination_id = p_destination.id and c.exclusive)
        and not exists (select from howdah.lanes l
                        where l.destination_id = p_destination.id
                          and (l.place > 0 or l.rank <> p_destination.main_rank))
$$;
