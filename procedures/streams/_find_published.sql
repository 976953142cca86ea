-- howdah._find_published(p_destination_id, p_message_id): find a topic message that a subscription has not passed, and
-- lock it if it is free.
--
-- Returns  as howdah._find, with the place topic.
-- Role     internal
create or replace function howdah._find_published(p_destination_id integer, p_message_id bigint)
returns table (message howdah.msgs, place text, nonpersistent boolean, free boolean)
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
    v_row record;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination_id;
    if not found then
        return;
    end if;
    select d.* into v_destination from howdah.destinations d where d.id = p_destination_id;
    for v_ack in
        select a.* from howdah.acks a
        where a.subscription_id = p_destination_id and a.destination_id = p_message_id % 1000000
          and (not howdah._is_wildcard(v_subscription.topic) or howdah._has_right(a.destination_id, 'receive'))
    loop
        select l.* into v_row from howdah._locate(v_subscription, v_ack, array[p_message_id / 1000000]) l
        where l.wanted and not l.done;
        continue when not found;
        message := howdah._own_copy(v_destination, p_message_id, v_row.sent_at, v_row.expires_at, v_row.rank,
            v_row.is_text, v_row.content_type, v_row.body, v_row.headers, v_row.correlation_id, v_row.reply_to,
            v_row.message_type, v_row.conversation_id, v_row.reliability);
        place := 'topic';
        nonpersistent := v_row.nonpersistent;
        free := howdah._lock_published(v_subscription, v_ack, v_row.xid, v_row.seq);
        return next;
        return;
    end loop;
end
$$;
