-- howdah._bound_backlog(p_destination, p_subscription): warn of a subscription that falls behind, and finally apply its
-- topic's policy.
--
-- Returns  what was done (text[]).
-- Role     internal
create or replace function howdah._bound_backlog(
    p_destination howdah.destinations, p_subscription howdah.subscriptions
) returns text[]
language plpgsql volatile
as $$
declare
    v_row record;
begin
    select t as topic, a as ack, l.behind, l.oldest, d.name,
        howdah._backlog_share(t, l.behind, l.oldest) as share into v_row
    from howdah.acks a
    join howdah.topics t on t.destination_id = a.destination_id
    join howdah.destinations d on d.id = a.destination_id
    cross join lateral howdah._lag(a) l
    where a.subscription_id = p_destination.id
    order by 6 desc limit 1;
    if v_row.share < 0.8 or v_row.share is null then
        update howdah.subscriptions s set warned_at = null
        where s.destination_id = p_destination.id and s.warned_at is not null;
        return '{}';
    end if;
    if p_subscription.warned_at is null then
        perform howdah._ensure_advisory();
        perform howdah._advise('SUBSCRIPTION_BEHIND', p_destination.name,
            jsonb_build_object('topic', v_row.name, 'behind', v_row.behind,
            'oldest', v_row.oldest, 'action', (v_row.topic).backlog_action));
        update howdah.subscriptions s set warned_at = howdah.now() where s.destination_id = p_destination.id;
        return array[format('warned of %s', p_destination.name)];
    elsif v_row.share <= 1 then
        return '{}';
    elsif (v_row.topic).backlog_action = 'refuse' then
        if not howdah._try_topics(array[(v_row.topic).destination_id]) then
            return '{}';
        end if;
        update howdah.topics t set refused_for = p_destination.name
        where t.destination_id = (v_row.topic).destination_id and t.refused_for is null;
        return array[format('refused publishers to %s', v_row.name)];
    -- The lock keeps consumers out until the transaction ends. So leases are looked for before it, and once more after.
    elsif (v_row.topic).backlog_action = 'drop_subscription' and not howdah._accepts_changes()
       or howdah._has_leased(p_destination.id)
       or (v_row.topic).backlog_action = 'drop_subscription' and not howdah._try_topics(array(
           select distinct a.destination_id from howdah.acks a where a.subscription_id = p_destination.id))
       or not pg_try_advisory_xact_lock(howdah._lock_key('subscription', p_destination.id::text))
       or howdah._has_leased(p_destination.id) then
        return '{}';
    elsif (v_row.topic).backlog_action = 'drop_subscription' then
        perform howdah._advise('SUBSCRIPTION_DROPPED', p_destination.name,
            jsonb_build_object('topic', v_row.name, 'behind', v_row.behind));
        perform howdah._unsubscribe(p_destination, 'too far behind');
        return array[format('dropped %s', p_destination.name)];
    end if;
    perform howdah._advise('BACKLOG_DROPPED', p_destination.name,
        jsonb_build_object('topic', v_row.name, 'behind', v_row.behind));
    perform howdah._skip_backlog(p_destination, p_subscription, a, 'too far behind')
    from howdah.acks a where a.subscription_id = p_destination.id and a.destination_id = (v_row.topic).destination_id;
    return array[format('dropped the backlog of %s', p_destination.name)];
end
$$;
