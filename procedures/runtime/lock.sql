-- howdah.acquire_lock(name, holder, seconds): take a named lease, or keep it if it is the holder's already.
--
-- Returns  the fencing epoch (bigint), or NULL if somebody else holds the lease.
-- Raises   HD005 wrong argument.
-- Role     howdah_consumer howdah_admin
--
-- The database's clock alone decides. The epoch grows with each change of holder: work done under the lease passes it,
-- and is refused once somebody else has taken over. Each change is on record in howdah.lock_epochs.
create or replace function howdah.acquire_lock(name text, holder text, seconds numeric default 30) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_now timestamptz := howdah.now();
    v_epoch bigint;
begin
    if name is null or holder is null or seconds is null or seconds <= 0 or seconds > 1000000000 then
        raise exception using errcode = 'HD005', message = 'a lock needs a name, a holder and a positive number of seconds',
            hint = 'At most 1,000,000,000 seconds.';
    end if;
    v_epoch := howdah._keep_lock(acquire_lock.name, acquire_lock.holder, v_now, seconds);
    if v_epoch is not null then
        return v_epoch;
    end if;
    insert into howdah.lock (name) select acquire_lock.name
    where not exists (select from howdah.lock l where l.name = acquire_lock.name) on conflict do nothing;
    update howdah.lock l
    set epoch = l.epoch + 1, holder = acquire_lock.holder, expires_at = v_now + seconds * interval '1 second'
    where l.name = acquire_lock.name and (l.holder is null or l.expires_at <= v_now)
    returning l.epoch into v_epoch;
    if v_epoch is null then
        -- Another session may have got it for the same holder meanwhile.
        return howdah._keep_lock(acquire_lock.name, acquire_lock.holder, v_now, seconds);
    end if;
    insert into howdah.lock_epochs (acquired_at, epoch, name, holder) values (howdah.now(), v_epoch, acquire_lock.name, acquire_lock.holder);
    return v_epoch;
end
$$;

-- howdah._keep_lock(p_name, p_holder, p_now, p_seconds): go on holding a named lease.
--
-- Returns  its epoch (bigint); NULL: it is not the holder's, or has expired.
-- Role     internal
create or replace function howdah._keep_lock(p_name text, p_holder text, p_now timestamptz, p_seconds numeric) returns bigint
language sql volatile
as $$
    update howdah.lock l set expires_at = p_now + p_seconds * interval '1 second'
    where l.name = p_name and l.holder = p_holder and l.expires_at > p_now
    returning l.epoch
$$;

-- howdah.release_lock(name, epoch): give a named lease up.
--
-- Raises   HD014 the lease is not the caller's any more.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.release_lock(name text, epoch bigint) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._fence(release_lock.name, release_lock.epoch);
    update howdah.lock l set holder = null, expires_at = null where l.name = release_lock.name;
end
$$;

-- howdah._fence(p_name, p_epoch): refuse work under a lease that has expired or gone to somebody else.
--
-- Raises   HD014 the lease is not the caller's any more.
-- Role     internal
--
-- The row stays locked to the end of the transaction, so that nobody can take over in the middle.
create or replace function howdah._fence(p_name text, p_epoch bigint) returns void
language plpgsql volatile
as $$
begin
    perform from howdah.lock l
    where l.name = p_name and l.epoch = p_epoch and l.holder is not null and l.expires_at > howdah.now()
    for no key update;
    if not found then
        raise exception using errcode = 'HD014', message = format('lock %s is not held with epoch %s', quote_literal(p_name), p_epoch),
            hint = 'It expired or another holder took it; acquire it again.';
    end if;
end
$$;
