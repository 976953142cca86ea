-- howdah.release_audit(lock_epoch): stop being the auditor, so that others can audit.
--
-- Raises   HD010 called from a maintenance command; HD014 somebody else audits by now.
-- Role     howdah_auditor howdah_admin
create or replace function howdah.release_audit(lock_epoch bigint) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._release_audit(release_audit.lock_epoch);
end
$$;
