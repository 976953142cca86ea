-- howdah._forget_lease(p_lease): delete the record of a lease that has no message left in leased.
--
-- Role     internal
--
-- A message that another transaction is taking still counts. A record that stays for that reason is deleted after the
-- lease has ended.
create or replace function howdah._forget_lease(p_lease howdah.leases) returns void
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
begin
    if not exists (select from howdah._in_lease(p_lease.destination_id, p_lease.lease_id)) then
        delete from howdah.leases l where l.ctid = (select o.ctid from howdah.leases o
            where o.lease_id = p_lease.lease_id for update skip locked);
    end if;
end
$$;
