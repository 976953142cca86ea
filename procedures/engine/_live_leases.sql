-- howdah._live_leases(): how many leases with messages have not run out.
--
-- Returns  bigint.
-- Role     internal
create or replace function howdah._live_leases() returns bigint
language sql volatile
as $$
    select count(*)
    from (
        select l.destination_id, l.lease_id from howdah.leases l
        where l.until > howdah.now() and exists (select from howdah._in_lease(l.destination_id, l.lease_id))
        union
        select p.destination_id, p.lease_id from howdah.parked p
        where p.lease_id is not null and p.due_at > howdah.now()
          and (p.boot is null or p.boot = pg_postmaster_start_time())
        union
        select a.subscription_id, d.lease_id from howdah.acked d join howdah.acks a on a.id = d.ack_id
        where d.lease_id is not null and d.leased_until > howdah.now()
    ) u
$$;
