-- howdah.ack_many(queues, leases, message_ids): acknowledge messages of several leases and queues in one call, all or
-- none.
--
-- Returns  the number of messages acknowledged (bigint). The arrays correspond: message_ids[i] was leased from
--          queues[i] under leases[i].
-- Raises   HD001 no such queue; HD005 the arrays differ in length; HD010 not allowed; HD026 a lease does not have, or
--          no longer has, one of these messages; nothing is acknowledged.
-- Role     howdah_consumer howdah_admin
--
-- A session acknowledges with it what all its consumers hold. It calls howdah.ack for each lease.
create or replace function howdah.ack_many(queues text[], leases bigint[], message_ids bigint[]) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_lease record;
    v_count bigint := 0;
begin
    perform howdah._check_together(queues, leases, cardinality(message_ids));
    for v_lease in
        select u.queue, u.lease, array_agg(u.message_id order by u.message_id) as ids
        from unnest(queues, leases, message_ids) u(queue, lease, message_id)
        group by u.queue, u.lease order by u.queue, u.lease
    loop
        v_count := v_count + howdah.ack(v_lease.queue, v_lease.lease, v_lease.ids);
    end loop;
    return v_count;
end
$$;
