-- howdah._add_cursors(p_subscription, p_topic_id, p_snapshot): make a subscription read a topic from a snapshot on.
--
-- Role     internal
create or replace function howdah._add_cursors(
    p_subscription howdah.subscriptions, p_topic_id integer, p_snapshot pg_snapshot
) returns void
language plpgsql volatile
as $$
declare
    v_priority integer;
    v_id integer;
begin
    for v_priority in 0 .. case when p_subscription.prioritized then 9 else 0 end loop
        v_id := null;
        while v_id is null loop  -- ids start again when they are used up, and some may be in use
            insert into howdah.acks (destination_id, subscription_id, priority, client_id, subscription_name, selector)
            values (p_topic_id, p_subscription.destination_id, v_priority, p_subscription.client_id,
                case when p_subscription.durable then '' else '~' end || p_subscription.name, p_subscription.selector)
            on conflict (id) do nothing
            returning id into v_id;
        end loop;
        insert into howdah.ack_cursors (ack_id, n, xid, seq, delivered, at, snapshot)
        values (v_id, 0, '3', -1, 0, howdah.now(), p_snapshot);
    end loop;
    perform howdah._note_readers(p_topic_id);
end
$$;
