-- howdah.acquire_lock(name, holder, seconds): take a named lease, or keep it if it is the holder's already.
--
-- Returns  the fencing epoch (bigint), or NULL if somebody else holds the lease, or has it in an open transaction.
-- Raises   HD005 wrong argument; HD010 the name is reserved for others, or called out of a maintenance command.
-- Role     howdah_consumer howdah_admin
--
-- The database's clock alone decides. The epoch grows with each change of holder: work done under the lease passes it,
-- and is refused once somebody else has taken over. Each change is on record in howdah.lock_epochs. Reserved are audit (howdah.hold_audit
-- takes it) and archive (administrators). A lease lasts an hour at most; its holder renews it in time.
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

-- howdah._acquire_lock(p_name, p_holder, p_seconds): take or keep a lease, whatever its name.
--
-- Returns  its epoch (bigint); NULL: somebody else holds it, or has it in an open transaction.
-- Raises   HD005 wrong argument; HD010 called out of a maintenance command.
-- Role     internal
--
-- It belongs to the caller's role too: another role that gives the same holder is somebody else.
create or replace function howdah._acquire_lock(p_name text, p_holder text, p_seconds numeric) returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_epoch bigint;
begin
    perform howdah._refuse_maintenance();
    if (length(p_name) <= 250 and length(p_holder) <= 1000 and p_seconds > 0 and p_seconds <= 3600) is not true then
        raise exception using errcode = 'HD005', message = 'a lock needs a name, a holder and a positive number of seconds',
            hint = 'At most 250 and 1000 characters, and 3600 seconds: the holder renews it in time.';
    end if;
    v_epoch := howdah._keep_lock(p_name, p_holder, v_now, p_seconds);
    if v_epoch is not null then
        return v_epoch;
    end if;
    -- Who has taken it in an open transaction is somebody else: he may leave it open for hours, and others are to be told.
    while not exists (select from howdah.lock l where l.name = p_name) loop
        if not pg_try_advisory_xact_lock(howdah._lock_key('lock name', p_name)) then
            return null;
        end if;
        -- Numbers begin anew when they are used up, and some may be in use.
        insert into howdah.lock (name) values (p_name) on conflict do nothing;
    end loop;
    perform from howdah.lock l
    where l.name = p_name and (l.holder is null or l.expires_at <= v_now) for no key update skip locked;
    if not found then
        -- Another session may have got it for the same holder meanwhile.
        return howdah._keep_lock(p_name, p_holder, v_now, p_seconds);
    end if;
    update howdah.lock l
    set epoch = l.epoch + 1, holder = p_holder, held_as = howdah._caller(), expires_at = v_now + p_seconds * interval '1 second'
    where l.name = p_name and (l.holder is null or l.expires_at <= v_now)
    returning l.epoch into v_epoch;
    insert into howdah.lock_epochs (acquired_at, epoch, name, holder) values (howdah.now(), v_epoch, p_name, p_holder);
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
    where l.name = p_name and l.holder = p_holder and l.held_as = howdah._caller() and l.expires_at > p_now
    returning l.epoch
$$;

-- howdah.release_lock(name, epoch, holder): give a named lease up.
--
-- Raises   HD010 called out of a maintenance command; HD014 the lease is not the caller's any more.
-- Role     howdah_consumer howdah_admin
--
-- Epochs are small numbers that anybody can guess: so it takes the holder's name, too, and the role that acquired it.
create or replace function howdah.release_lock(name text, epoch bigint, holder text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    perform howdah._fence(release_lock.name, release_lock.epoch);
    update howdah.lock l set holder = null, held_as = null, expires_at = null
    where l.name = release_lock.name and l.holder = release_lock.holder;
    if not found then
        raise exception using errcode = 'HD014', message = format('lock %s is not held by this holder', quote_literal(release_lock.name)),
            hint = 'Give the holder that acquired it.';
    end if;
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
    where l.name = p_name and l.epoch = p_epoch and l.held_as = howdah._caller() and l.expires_at > howdah.now()
    for no key update;
    if not found then
        raise exception using errcode = 'HD014', message = format('lock %s is not held with epoch %s', quote_literal(p_name), p_epoch),
            hint = 'It expired or another holder took it; acquire it again.';
    end if;
end
$$;
