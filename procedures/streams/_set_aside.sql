-- howdah._set_aside(p_destination_id, p_message_id): record a topic message as done for a subscription.
--
-- Role     internal
create or replace function howdah._set_aside(p_destination_id integer, p_message_id bigint) returns void
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination_id;
    for v_ack in select a.* from howdah.acks a where a.subscription_id = p_destination_id
        and a.destination_id = p_message_id % 1000000 loop
        perform howdah._note_done(v_ack.id, array[l.seq], array[l.xid])
        from howdah._locate(v_subscription, v_ack, array[p_message_id / 1000000]) l;
    end loop;
end
$$;
