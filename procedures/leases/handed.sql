-- howdah.handed(queue, lease, message_ids): record that leased messages were handed to the application, for engines
-- without redelivered_optimization.
--
-- Returns  the number of messages (bigint). message_ids NULL: all messages that the lease still has. A second call for
--          a message changes nothing.
-- Raises   HD001 no such queue; HD010 not allowed; HD026 the lease does not have, or no longer has, one of these
--          messages.
-- Role     howdah_consumer howdah_admin
--
-- With engine.redelivered_optimization true (the default, as in OpenMQ), all messages of a lease that runs out count as
-- delivered. They come again as redelivered, though a consumer that prefetched them may never have seen them.
--
-- With false, only messages recorded by this call count as delivered. A consumer that never calls it is not blamed for
-- messages that kill it.
create or replace function howdah.handed(queue text, lease bigint, message_ids bigint[] default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_ids bigint[];
begin
    -- After the lease's end, others may be receiving some of its messages.
    perform howdah._lay_down(v_destination.id, lease, message_ids, null) from howdah.leases l
    where l.lease_id = lease and l.until <= howdah.now();
    v_ids := array(
        select m.message_id from howdah._in_lease(v_destination.id, lease, message_ids) m
        union all
        select (l.message).message_id from howdah._parked_of_lease(v_destination.id, lease, message_ids) l
        union all
        select d.seq * 1000000 + a.destination_id from howdah.acks a join howdah.acked d on d.ack_id = a.id
        where a.subscription_id = v_destination.id and d.lease_id = lease
          and (message_ids is null or d.seq * 1000000 + a.destination_id = any (message_ids)));
    perform howdah._check_lease(v_destination, lease, message_ids, cardinality(v_ids));
    perform howdah._commit_needs(4);
    insert into howdah.handed (lease_id, message_id, handed_at)
    select lease, i.id, howdah.now() from unnest(v_ids) i(id)
    where not exists (select from howdah.handed h where h.lease_id = lease and h.message_id = i.id);
    return cardinality(v_ids);
end
$$;
