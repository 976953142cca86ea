-- howdah._release_audit(p_epoch): end the right to audit, for the role that holds it.
--
-- Raises   HD010 called from a maintenance command; HD014 somebody else audits by now.
-- Role     internal
create or replace function howdah._release_audit(p_epoch bigint) returns void
language plpgsql volatile
as $$
begin
    perform howdah._refuse_maintenance();
    perform howdah._fence('audit', p_epoch);
    update howdah.lock l set holder = null, held_as = null, expires_at = null where l.name = 'audit';
end
$$;
