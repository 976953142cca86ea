-- howdah.journal_offset(starting): a place in the journal, from which a reader goes on.
--
-- Returns  a JSON object. snapshot: what is visible in it has been read; system: the cluster that it was made in; dropped: the
--          greatest transaction of which retention had dropped rows by then.
-- Raises   HD005 neither earliest, latest nor a snapshot; HD037 the server is a standby, or the snapshot lies ahead of it.
-- Role     howdah_auditor howdah_admin
--
-- latest: nothing that is committed now. earliest: all that retention has left. A reader by snapshots, and not by time or number, neither
-- misses what commits late nor gets it twice.
create or replace function howdah.journal_offset(starting text default 'latest') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_snapshot pg_snapshot;
begin
    perform howdah._check_primary();
    begin
        v_snapshot := case starting when 'latest' then howdah._snapshot() when 'earliest' then '1:1:'::pg_snapshot else starting::pg_snapshot end;
    exception when invalid_text_representation then
        raise exception using errcode = 'HD005', message = format('%s is no place in the journal', quote_literal(starting)),
            hint = 'Say earliest, latest or a snapshot, as pg_current_snapshot() gives it.';
    end;
    if v_snapshot is null then
        raise exception using errcode = 'HD005', message = 'starting is NULL', hint = 'Say earliest, latest or a snapshot.';
    end if;
    if pg_snapshot_xmax(v_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) then
        raise exception using errcode = 'HD037', message = format('snapshot %s lies ahead of this database', v_snapshot),
            hint = 'It was made in another cluster, or before this one was set back.';
    end if;
    return (select jsonb_build_object('snapshot', v_snapshot::text, 'system', c.system_identifier::text,
                                      'dropped', case when starting in ('earliest', 'latest') then e.journal_dropped_xid else 0 end)
            from howdah.engine e cross join pg_control_system() c);
end
$$;

-- howdah.check_journal_offset(since, fail_on_loss): refuse to go on from a place if the journal has not all that came after it.
--
-- Raises   HD005 no offset; HD036 retention dropped rows that were not read; HD037 made in another cluster, or the server is a
--          standby, or was set back.
-- Role     howdah_auditor howdah_admin
--
-- Ask after reading too: what was dropped in the meantime is known then. A transaction that retention took rows of and that was open at the
-- offset counts as not read, though it may have been. fail_on_loss false leaves retention out.
create or replace function howdah.check_journal_offset(since jsonb, fail_on_loss boolean default true) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_since pg_snapshot := howdah._offset_snapshot(since);
    v_dropped bigint := (select e.journal_dropped_xid from howdah.engine e);
begin
    perform howdah._check_primary();
    if since ->> 'system' is distinct from (select c.system_identifier::text from pg_control_system() c) then
        raise exception using errcode = 'HD037', message = 'the offset was made in another cluster, whose transaction numbers mean nothing here',
            hint = 'After a restore begin anew, with a new checkpoint.';
    end if;
    if pg_snapshot_xmax(v_since) > pg_snapshot_xmax(pg_current_snapshot()) then
        raise exception using errcode = 'HD037', message = 'the offset lies ahead of this database, which was set back',
            hint = 'What was read may not be here any more. Begin anew, with a new checkpoint.';
    end if;
    if fail_on_loss and v_dropped > (since ->> 'dropped')::bigint and v_dropped >= pg_snapshot_xmin(v_since)::text::bigint then
        raise exception using errcode = 'HD036', message = 'retention dropped rows of the journal that were not read',
            hint = 'Go on without them by failOnDataLoss=false, or begin anew; keep more by engine.journal_retention_days, or read more often.';
    end if;
end
$$;

-- howdah._offset_snapshot(p_offset): the snapshot of an offset.
--
-- Returns  pg_snapshot.
-- Raises   HD005 it is none.
-- Role     internal
create or replace function howdah._offset_snapshot(p_offset jsonb) returns pg_snapshot
language plpgsql immutable
as $$
begin
    if jsonb_typeof(p_offset) = 'object' and p_offset ->> 'snapshot' is not null and p_offset ->> 'dropped' ~ '^[0-9]{1,18}$' then
        return (p_offset ->> 'snapshot')::pg_snapshot;
    end if;
    raise invalid_text_representation;
exception when invalid_text_representation then
    raise exception using errcode = 'HD005', message = format('%s is no offset of the journal', coalesce(quote_literal(p_offset::text), 'NULL')),
        hint = 'Offsets come from howdah.journal_offset and howdah.next_journal_offset.';
end
$$;

-- howdah._check_all_here(): refuse to show a part for the whole on a standby, which has no non-persistent messages.
--
-- Raises   HD037 it is one.
-- Role     internal
--
-- They are in UNLOGGED tables, which PostgreSQL does not let a standby read at all.
create or replace function howdah._check_all_here() returns void
language plpgsql stable
as $$
begin
    if pg_is_in_recovery() then
        raise exception using errcode = 'HD037', message = 'this server is a standby: non-persistent messages are on the primary alone',
            hint = 'Ask the primary: target_session_attrs=primary in the DSN. What a standby answers is in docs/operations.md.';
    end if;
end
$$;

-- howdah._check_primary(): refuse a standby, whose snapshots do not name the open transactions.
--
-- Raises   HD037 it is one.
-- Role     internal
create or replace function howdah._check_primary() returns void
language plpgsql stable
as $$
begin
    if pg_is_in_recovery() then
        raise exception using errcode = 'HD037', message = 'this server is a standby: it cannot tell which transactions are open',
            hint = 'Read from the primary: target_session_attrs=primary in the DSN.';
    end if;
end
$$;
