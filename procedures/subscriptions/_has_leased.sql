-- howdah._has_leased(p_subscription_id): whether messages of a subscription, or messages set aside for it, are leased.
--
-- Returns  boolean; false once the leases have ended. Dead consumers are closed, which may end their leases.
-- Role     internal
create or replace function howdah._has_leased(p_subscription_id integer) returns boolean
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
begin
    perform howdah._has_consumer(p_subscription_id);
    return exists (select from howdah.acks a join howdah.acked d on d.ack_id = a.id
                   where a.subscription_id = p_subscription_id and d.lease_id is not null and d.leased_until > v_now)
        or (select true from howdah.parked p
            where p.destination_id = p_subscription_id and p.lease_id is not null and p.due_at > v_now
              and (p.boot is null or p.boot = pg_postmaster_start_time())
            order by p.lease_id limit 1) is true;
end
$$;
