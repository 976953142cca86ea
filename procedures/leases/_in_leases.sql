-- howdah._in_leases(p_destination_id, p_leases): the messages that leases hold, with the columns that define their
-- order of delivery.
--
-- Returns  lease, rank, seq and id of each message; rank is 0 for a topic's message.
-- Role     internal
create or replace function howdah._in_leases(p_destination_id integer, p_leases bigint[])
returns table (lease bigint, rank smallint, seq bigint, message_id bigint)
language sql stable
as $$
    select p.lease_id, p.rank, p.seq, p.message_id from howdah.parked p
    where p.lease_id = any (p_leases) and p.destination_id = p_destination_id and p.parked_reason = 'lease'
      and (p.boot is null or p.boot = pg_postmaster_start_time())
    union all
    select u.lease_id, m.rank, m.message_id / 1000000, m.message_id
    from unnest(p_leases) u(lease_id) cross join lateral howdah._in_lease(p_destination_id, u.lease_id) m
    union all
    select d.lease_id, 0::smallint, d.seq, d.seq * 1000000 + a.destination_id
    from howdah.acks a join howdah.acked d on d.ack_id = a.id
    where a.subscription_id = p_destination_id and d.lease_id = any (p_leases)
$$;
