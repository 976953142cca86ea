-- howdah.check_journal_offset(since, fail_on_loss): refuse to go on from an offset if the journal no longer has
-- everything after it.
--
-- Raises   HD005 it is no offset; HD036 retention dropped rows that were not read; HD037 it was made in another
--          cluster, or the server is a standby or was set back.
-- Role     howdah_auditor howdah_admin
--
-- Call it after reading, too: it then knows what was dropped in the meantime. If retention dropped rows of a
-- transaction that was open at the offset, the transaction counts as not read, though it may have been. fail_on_loss
-- false ignores retention.
create or replace function howdah.check_journal_offset(since jsonb, fail_on_loss boolean default true) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_since pg_snapshot := howdah._offset_snapshot(since);
    v_dropped bigint := (select e.journal_dropped_xid from howdah.engine e);
begin
    perform howdah._check_primary();
    if since ->> 'system' is distinct from (select c.system_identifier::text from pg_control_system() c) then
        raise exception using errcode = 'HD037',
            message = 'the offset was made in another cluster, whose transaction numbers mean nothing here',
            hint = 'After a restore, start again with a new checkpoint.';
    end if;
    if pg_snapshot_xmax(v_since) > pg_snapshot_xmax(pg_current_snapshot()) then
        raise exception using errcode = 'HD037', message = 'the offset lies ahead of this database, which was set back',
            hint = 'What was read may no longer be here. Start again with a new checkpoint.';
    end if;
    if fail_on_loss is not false and v_dropped > (since ->> 'dropped')::bigint
       and v_dropped >= pg_snapshot_xmin(v_since)::text::bigint then
        raise exception using errcode = 'HD036', message = 'retention dropped rows of the journal that were not read',
            hint =
                'Continue without them with failOnDataLoss=false, or start again. To keep more, raise '
                'engine.journal_retention_days; or read more often.';
    end if;
end
$$;
