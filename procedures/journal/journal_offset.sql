-- howdah.journal_offset(starting): a place in the journal from which a reader goes on.
--
-- Returns  a JSON object. snapshot: what is visible in it has been read. system: the cluster that it was made in.
--          dropped: the greatest transaction id of which retention had dropped rows by then.
-- Raises   HD005 starting is neither earliest, latest nor a snapshot; HD037 the server is a standby, or the snapshot
--          lies ahead of it.
-- Role     howdah_auditor howdah_admin
--
-- latest skips everything committed now. earliest starts with everything that retention has left. A reader that goes by
-- snapshots, and not by time or number, neither misses what commits late nor gets it twice.
create or replace function howdah.journal_offset(starting text default 'latest') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_snapshot pg_snapshot;
begin
    perform howdah._check_primary();
    begin
        v_snapshot := case starting when 'latest' then howdah._snapshot() when 'earliest' then '1:1:'::pg_snapshot
            else starting::pg_snapshot end;
    exception when invalid_text_representation then
        raise exception using errcode = 'HD005', message = format('%s is no place in the journal',
            quote_literal(starting)),
            hint = 'Give earliest, latest or a snapshot in the form of pg_current_snapshot().';
    end;
    if v_snapshot is null then
        raise exception using errcode = 'HD005', message = 'starting is NULL',
            hint = 'Give earliest, latest or a snapshot.';
    end if;
    if pg_snapshot_xmax(v_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) then
        raise exception using errcode = 'HD037', message = format('snapshot %s lies ahead of this database',
            v_snapshot),
            hint = 'It was made in another cluster, or before this one was set back.';
    end if;
    return (select jsonb_build_object('snapshot', v_snapshot::text, 'system', c.system_identifier::text,
                                      'dropped', case when starting in ('earliest', 'latest') then e.journal_dropped_xid
                                          else 0 end)
            from howdah.engine e cross join pg_control_system() c);
end
$$;
