-- howdah._held_messages(p_destination, p_lease, p_message_ids): which messages a lease still has, locked, of some or
-- (NULL) of all.
--
-- Returns  their numbers (bigint[]), never NULL; what somebody else is just receiving, because the lease ran out, is
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
