-- howdah._held_messages(p_destination, p_lease, p_message_ids): the messages that a lease still has, locked: some of
-- them, or (NULL) all.
--
-- Returns  their ids (bigint[]), never NULL. Messages that somebody else is receiving, because the lease ran out, are
--          left out.
-- Role     internal
create or replace function howdah._held_messages(
    p_destination howdah.destinations, p_lease bigint, p_message_ids bigint[] default null
) returns bigint[]
language plpgsql volatile
as $$
begin
    perform howdah._lay_down(p_destination.id, p_lease, p_message_ids, null);
    return array(select (l.message).message_id from howdah._parked_of_lease(p_destination.id, p_lease, p_message_ids) l)
        || array(select d.seq * 1000000 + a.destination_id
                 from howdah.acks a join howdah.acked d on d.ack_id = a.id
                 where a.subscription_id = p_destination.id and d.lease_id = p_lease
                   and (p_message_ids is null or d.seq * 1000000 + a.destination_id = any (p_message_ids)));
end
$$;
