-- howdah._unread_numbers(p_subscription, p_upto): the ids of all messages that a subscription has not read up to a
-- snapshot.
--
-- Returns  bigint[].
-- Role     internal
create or replace function howdah._unread_numbers(
    p_subscription howdah.subscriptions, p_upto pg_snapshot
) returns bigint[]
language sql volatile
as $$
    select coalesce(array_agg(h.message_id), '{}')
    from howdah.acks a cross join lateral howdah._messages_ahead(p_subscription, a, p_upto, null, null) h
    where a.subscription_id = p_subscription.destination_id
$$;
