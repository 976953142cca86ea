-- howdah._acquire_lock(p_name, p_holder, p_seconds): take or keep a lease of any name.
--
-- Returns  its epoch (bigint); NULL if somebody else holds it, or has it in an open transaction.
-- Raises   HD005 wrong argument; HD010 called from a maintenance command.
-- Role     internal
--
-- The lease belongs to the caller's role, too: another role with the same holder is somebody else.
create or replace function howdah._acquire_lock(p_name text, p_holder text, p_seconds numeric) returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_epoch bigint;
begin
    perform howdah._refuse_maintenance();
    if (length(p_name) <= 250 and length(p_holder) <= 1000 and p_seconds > 0 and p_seconds <= 3600) is not true then
        raise exception using errcode = 'HD005',
            message = 'a lock needs a name, a holder and a positive number of seconds',
            hint =
                'The name has at most 250 characters, the holder 1000, and seconds are at most 3600: the holder '
                'renews the lock in time.';
    end if;
    v_epoch := howdah._keep_lock(p_name, p_holder, v_now, p_seconds);
    if v_epoch is not null then
        return v_epoch;
    end if;
    -- A session that took it in an open transaction is somebody else. It may stay open for hours, and others must be
    -- told.
    while not exists (select from howdah.lock l where l.name = p_name) loop
        if not pg_try_advisory_xact_lock(howdah._lock_key('lock name', p_name)) then
            return null;
        end if;
        -- Ids start again when they are used up, and some may be in use.
        insert into howdah.lock (name) values (p_name) on conflict do nothing;
    end loop;
    perform from howdah.lock l
    where l.name = p_name and (l.holder is null or l.expires_at <= v_now) for no key update skip locked;
    if not found then
        -- Another session may have got it for the same holder meanwhile.
        return howdah._keep_lock(p_name, p_holder, v_now, p_seconds);
    end if;
    update howdah.lock l
    set epoch = l.epoch + 1, holder = p_holder, held_as = howdah._caller(),
        expires_at = v_now + p_seconds * interval '1 second'
    where l.name = p_name and (l.holder is null or l.expires_at <= v_now)
    returning l.epoch into v_epoch;
    insert into howdah.lock_epochs (acquired_at, epoch, name, holder) values (howdah.now(), v_epoch, p_name, p_holder);
    return v_epoch;
end
$$;
