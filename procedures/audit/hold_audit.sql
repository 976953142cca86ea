-- howdah.hold_audit(holder, seconds): become, or stay, the only auditor of this database for a while.
--
-- Returns  lock_epoch: the fencing epoch with which the audit is recorded, or NULL if somebody else audits; held_by and
--          held_until: who does, and until when.
-- Raises   HD005 wrong argument; HD010 called from a maintenance command.
-- Role     howdah_auditor howdah_admin
create or replace function howdah.hold_audit(holder text, seconds numeric default 60)
returns table (lock_epoch bigint, held_by text, held_until timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_epoch bigint := howdah._acquire_lock('audit', hold_audit.holder, hold_audit.seconds);
begin
    return query select v_epoch, l.holder, l.expires_at from howdah.lock l where l.name = 'audit';
end
$$;
