-- howdah._use_up_suspect(p_lease): count the next message of a lease that ran out among those that may have failed.
--
-- Returns  boolean, whether it does: true for the first messages of a lease held ahead of delivery, and for all
--          messages of any other lease.
-- Role     internal
--
-- Receivers take returned messages from the beginning of the lease. If another receiver is doing that now, it has the
-- first ones.
create or replace function howdah._use_up_suspect(p_lease bigint) returns boolean
language plpgsql volatile
as $$
begin
    if not exists (select from howdah.ahead_leases a where a.lease_id = p_lease) then
        return true;
    end if;
    update howdah.ahead_leases a set suspects = a.suspects - 1
    where a.ctid = (select c.ctid from howdah.ahead_leases c where c.lease_id = p_lease and c.suspects > 0
        for update skip locked);
    return found;
end
$$;
