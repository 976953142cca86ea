-- howdah.break_lock(name): take a named lease away from its holder.
--
-- Returns  what was broken, as a JSON object of holder, held_as (the role), epoch and expires_at; NULL if nobody held
--          it.
-- Raises   HD005 name is NULL; HD010 the caller is no administrator, or calls from a maintenance command.
-- Role     howdah_consumer howdah_admin
--
-- The epoch grows, so that work under the broken lease is refused from the commit on. The call waits for work that is
-- being fenced now. howdah.lock_epochs and howdah.list_changes() have it. The former holder may acquire the lease
-- again: first revoke its rights, or end its sessions.
create or replace function howdah.break_lock(name text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_lock howdah.lock;
    v_broken jsonb;
begin
    perform howdah._refuse_maintenance();
    if not (select howdah._has_role(e.admin_role) from howdah.engine e) then
        raise exception using errcode = 'HD010', message = format('role %s may not break locks',
            quote_ident(howdah._caller())),
            hint = 'Ask for membership in the administrators'' role.';
    elsif break_lock.name is null then
        raise exception using errcode = 'HD005', message = 'the name of the lock to break cannot be NULL',
            hint = 'howdah.audit_locks shows the locks that were taken.';
    end if;
    select l.* into v_lock from howdah.lock l
    where l.name = break_lock.name and l.holder is not null and l.expires_at > howdah.now() for no key update;
    if not found then
        return null;
    end if;
    update howdah.lock l set epoch = l.epoch + 1, holder = null, held_as = null, expires_at = null
    where l.id = v_lock.id;
    insert into howdah.lock_epochs (acquired_at, epoch, name, holder)
    values (howdah.now(), v_lock.epoch + 1, v_lock.name, 'nobody: broken by ' || howdah._caller());
    v_broken := jsonb_build_object('holder', v_lock.holder, 'held_as', v_lock.held_as, 'epoch', v_lock.epoch,
        'expires_at', v_lock.expires_at);
    perform howdah._record_change('lock', name, 'dropped', v_broken, null);
    return v_broken;
end
$$;
