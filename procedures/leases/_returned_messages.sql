-- howdah._returned_messages(p_destination_id, p_message_ids): messages that the caller's transaction has just given
-- back, as callers see them.
--
-- Returns  howdah.message[], never NULL. Messages that a receive would dispose of are left out. It is empty if failures
--          in a row have just disabled the queue.
-- Role     internal
create or replace function howdah._returned_messages(
    p_destination_id integer, p_message_ids bigint[]
) returns howdah.message[]
language sql volatile
as $$
    select coalesce(array_agg(howdah._message(f.message, d.name, f.nonpersistent, s.failures) order by i.number), '{}')
    from howdah.destinations d
    cross join unnest(p_message_ids) with ordinality i(id, number)
    cross join lateral howdah._find(p_destination_id, i.id, null, null) f
    cross join lateral howdah._standing(p_destination_id, i.id, (f.message).stage, (f.message).conversation_id,
        howdah._group((f.message).headers, (f.message).conversation_id), null) s
    where d.id = p_destination_id and not d.receiving_paused and f.place is not null and f.free
      and (s.weight >= d.dispose_at) is not true and ((f.message).expires_at <= howdah.now()) is not true
$$;
