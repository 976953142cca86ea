-- howdah.acquire_lock(name, holder, seconds): take a named lease, or keep it if it is the holder's already.
--
-- Returns  the fencing epoch (bigint), or NULL if somebody else holds the lease, or has it in an open transaction.
-- Raises   HD005 wrong argument; HD010 the name is reserved for others, or called out of a maintenance command.
-- Role     howdah_consumer howdah_admin
--
-- The database's clock alone decides. The epoch grows with each change of holder: work done under the lease passes it,
-- and is refused once somebody else has taken over. Each change is on record in howdah.lock_epochs. Reserved are audit
-- (howdah.hold_audit takes it) and archive (administrators). A lease lasts an hour at most; its holder renews it in
-- time.
create or replace function howdah.acquire_lock(name text, holder text, seconds numeric default 30) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if name = 'audit' then
        raise exception using errcode = 'HD010', message = 'the lock audit is reserved for auditors',
            hint = 'An auditor takes it with howdah.hold_audit(holder).';
    elsif name = 'archive' and not (select howdah._has_role(e.admin_role) from howdah.engine e) then
        raise exception using errcode = 'HD010', message = 'the lock archive is reserved for administrators',
            hint = 'Ask for membership in the administrators'' role, or take another name.';
    end if;
    return howdah._acquire_lock(acquire_lock.name, acquire_lock.holder, acquire_lock.seconds);
end
$$;
