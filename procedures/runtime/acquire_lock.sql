-- howdah.acquire_lock(name, holder, seconds): take a named lease, or keep it if the holder has it already.
--
-- Returns  the fencing epoch (bigint); NULL if somebody else holds the lease, or has it in an open transaction.
-- Raises   HD005 wrong argument; HD010 the name is reserved for others, or the call comes from a maintenance command.
-- Role     howdah_consumer howdah_admin
--
-- Only the database's clock decides. The epoch grows with each change of holder. Work done under the lease passes it,
-- and is refused once somebody else has taken over. howdah.lock_epochs records each change.
--
-- Reserved are the names audit (howdah.hold_audit takes it), archive (for administrators), changes and exclusive (for
-- instances), and those that begin with link: (forwarders take them). A lease lasts at most an hour; its holder renews
-- it in time.
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
    elsif name in ('changes', 'exclusive') then
        raise exception using errcode = 'HD010', message = format('the lock %s is reserved for instances', name),
            hint = 'Take another name. howdah.instance_heartbeat takes it.';
    elsif name ^@ 'link:' then
        raise exception using errcode = 'HD010', message = 'locks that begin with link: are reserved for links',
            hint = 'Take another name. howdah.pause_link(name) stops a link.';
    end if;
    return howdah._acquire_lock(acquire_lock.name, acquire_lock.holder, acquire_lock.seconds);
end
$$;
