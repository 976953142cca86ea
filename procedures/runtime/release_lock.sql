-- howdah.release_lock(name, epoch, holder): release a named lease.
--
-- Raises   HD010 called from a maintenance command; HD014 the lease no longer belongs to the caller.
-- Role     howdah_consumer howdah_admin
--
-- Epochs are small numbers that anybody can guess. So the call also needs the holder's name, and the role that acquired
-- the lease.
create or replace function howdah.release_lock(name text, epoch bigint, holder text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    perform howdah._fence(release_lock.name, release_lock.epoch);
    update howdah.lock l set holder = null, held_as = null, expires_at = null
    where l.name = release_lock.name and l.holder = release_lock.holder;
    if not found then
        raise exception using errcode = 'HD014', message = format('lock %s is not held by this holder',
            quote_literal(release_lock.name)),
            hint = 'Give the holder that acquired it.';
    end if;
end
$$;
