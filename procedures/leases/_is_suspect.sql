-- howdah._is_suspect(p_lease): whether the next message of a lease that ran out counts as failed.
--
-- Returns  boolean: true for the first ones of a lease that was held ahead of delivery, and for all of any other lease.
-- Role     internal
--
-- Receivers take what comes back from its beginning. If another one is just doing that, it has the first ones.
create or replace function howdah._is_suspect(p_lease bigint) returns boolean
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
