-- howdah._is_leased(p_destination_id, p_message_id): whether a message is under a lease that has not run out.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_leased(p_destination_id integer, p_message_id bigint) returns boolean
language plpgsql volatile
as $$
begin
    return exists (
            select from howdah.parked p
            where p.destination_id = p_destination_id and p.message_id = p_message_id and p.lease_id is not null
              and p.due_at > howdah.now())
        or exists (
            select from howdah.leased m join howdah.leases l
                on l.lease_id = m.seq >> 20 and l.destination_id = m.destination_id
            where m.destination_id = p_destination_id and m.message_id = p_message_id and l.until > howdah.now())
        or exists (
            select from howdah.acks a join howdah.acked d on d.ack_id = a.id
            where a.subscription_id = p_destination_id and a.destination_id = p_message_id % 1000000
              and d.seq = p_message_id / 1000000
              and d.lease_id is not null and d.leased_until > howdah.now());
end
$$;
