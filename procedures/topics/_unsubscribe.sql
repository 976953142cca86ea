-- howdah._unsubscribe(p_subscription, p_reason): end a subscription that nobody is reading.
--
-- Raises   HD005 the transaction is not READ COMMITTED; HD024 it is being read: a transaction that received from it is
--          open, or messages of it are leased.
-- Role     internal
create or replace function howdah._unsubscribe(p_subscription howdah.destinations, p_reason text) returns void
language plpgsql volatile
as $$
declare
    v_topic integer;
begin
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'ending a subscription needs READ COMMITTED',
            hint = 'With an older snapshot it would not see what others have leased or acknowledged since.';
    end if;
    perform howdah._lock_subscription(p_subscription);
    perform howdah._record_dropped(p_subscription);
    perform howdah._empty_destination(p_subscription, p_reason);
    delete from howdah.ack_cursors c using howdah.acks a
    where a.subscription_id = p_subscription.id and c.ack_id = a.id;
    delete from howdah.acked c using howdah.acks a where a.subscription_id = p_subscription.id and c.ack_id = a.id;
    for v_topic in
        with gone as (delete from howdah.acks a where a.subscription_id = p_subscription.id returning a.destination_id)
        select distinct g.destination_id from gone g order by 1
    loop
        perform howdah._note_readers(v_topic);
        update howdah.topics t set refused_for = null
        where t.destination_id = v_topic and t.refused_for = p_subscription.name;
    end loop;
    delete from howdah.listeners l where l.destination_id = p_subscription.id;
    delete from howdah.consumers c where c.destination_id = p_subscription.id;
    update howdah.destinations d set dropped_at = howdah.now() where d.id = p_subscription.id;
    delete from howdah.links l where l.source_id = p_subscription.id;
end
$$;
