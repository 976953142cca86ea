-- howdah._note_lease(p_consumer, p_lease): record that a lease ends with the session of its consumer.
--
-- Role     internal
--
-- Nobody notices the death of other consumers. This call deletes records of leases that the consumer has finished, so
-- ending a lease costs nothing for it.
create or replace function howdah._note_lease(p_consumer bigint, p_lease bigint) returns void
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_destination_id integer := (select c.destination_id from howdah.consumers c
        where c.id = p_consumer and c.own_session);
begin
    if v_destination_id is null then
        return;
    end if;
    delete from howdah.consumer_leases l
    where l.consumer_id = p_consumer
      and not exists (select from howdah.parked p where p.destination_id = v_destination_id and p.lease_id = l.lease_id)
      and not exists (select from howdah.acks a join howdah.acked d on d.ack_id = a.id
                      where a.subscription_id = v_destination_id and d.lease_id = l.lease_id);
    insert into howdah.consumer_leases (lease_id, consumer_id) values (p_lease, p_consumer);
end
$$;
