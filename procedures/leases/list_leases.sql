-- howdah.list_leases(queue): list the leases of a queue or subscription.
--
-- Returns  one row per lease: how many messages it has, and when it ends. A lease that has ended stays listed until
--          somebody receives its messages.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_leases(queue text) returns table (
    lease bigint, messages bigint, leased_until timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'browse')).id;
begin
    return query
    select l.lease_id, count(*), max(l.until)
    from (
        select p.lease_id, p.due_at as until from howdah.parked p
        where p.destination_id = v_id and p.lease_id is not null
          and (p.boot is null or p.boot = pg_postmaster_start_time())
        union all
        select o.lease_id, o.until from howdah.leases o cross join lateral howdah._in_lease(v_id, o.lease_id)
        where o.destination_id = v_id
        union all
        select d.lease_id, d.leased_until from howdah.acked d join howdah.acks a on a.id = d.ack_id
        where a.subscription_id = v_id and d.lease_id is not null
    ) l
    group by l.lease_id order by l.lease_id;
end
$$;
