-- howdah.maintain_journal(lock_epoch): create the journal's partitions a year ahead, and drop those past their
-- retention.
--
-- Returns  the number of partitions created and dropped (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- Partitions are weeks from Monday, 00:00 UTC. A new partition is created apart and then attached, so that no receive
-- waits for it. Rows that fell into the default partition stay there, and a week with such rows is left to it.
--
-- A partition is dropped once its rows are in journal_totals and, with the engine's option archive, also in the
-- archive. If somebody is reading it (lock timeout of 50 ms), it is dropped next time. A NOTICE and
-- howdah.check_server() say what is left, and why.
create or replace function howdah.maintain_journal(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set lock_timeout = '50ms' set timezone = 'UTC' set datestyle = 'ISO'
    set default_tablespace = '' set default_table_access_method = heap
as $$
declare
    v_now timestamptz := howdah.now();
    v_week timestamptz;
    v_child record;
    v_name text;
    v_count bigint := 0;
    v_dropped bigint;
    v_archive boolean := (select e.archive from howdah.engine e);
    v_archived pg_snapshot;
    v_reason text;
    v_left text[] := '{}';
    v_due regclass[];
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    for v_week in
        select g.monday at time zone 'UTC'
        from generate_series(date_trunc('week', v_now at time zone 'UTC'),
                             date_trunc('week', v_now at time zone 'UTC') + interval '53 weeks',
                             interval '1 week') g(monday)
    loop
        v_name := 'journal_' || to_char(v_week at time zone 'UTC', 'IYYY"w"IW');
        continue when to_regclass('howdah.' || v_name) is not null
            or exists (select from howdah.journal_default d where d.at >= v_week and d.at < v_week + interval '7 days');
        begin
            execute format(
                'create table howdah.%I (like howdah.journal including defaults including constraints including '
                'storage)', v_name);
            execute format('alter table howdah.journal attach partition howdah.%I for values from (%L) to (%L)',
                v_name, v_week, v_week + interval '7 days');
            execute format('comment on table howdah.%I is %L', v_name, 'The journal of one week.');
            v_count := v_count + 1;
        exception when check_violation then
            null;  -- rows of that week were committed meanwhile: they stay where they are
        when lock_not_available then
            perform howdah._report_blocked_maintenance('journal', 'journal_default',
                howdah._in_use(array['journal', 'journal_default']));
            return v_count;
        end;
    end loop;
    select v_count + k.p_created, k.p_due into v_count, v_due from howdah._maintain_kept() k;
    perform howdah.maintain_totals();
    for v_child in
        select c.oid::regclass as child, c.relname::text as name,
            to_date(substr(c.relname, 9), 'IYYY"w"IW')::timestamp at time zone 'UTC' as week
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'howdah.journal'::regclass and c.relname ~ '^journal_[0-9]{4}w[0-9]{2}$'
    loop
        continue when v_child.week + interval '7 days'
            > v_now - (select e.journal_retention_days from howdah.engine e where e.id = 1) * interval '1 day';
        v_archived := howdah._archived_until();
        v_reason := null;
        if v_archive and (v_archived is null or howdah._has_old_snapshot()
            or howdah._has_invisible_rows(v_child.child, v_archived)) then
            v_reason := howdah._why_unarchived();
        else
            v_dropped := howdah._greatest_xid(v_child.child, 0);
            begin
                -- Do not lock the journal itself yet: everybody would wait while this partition is checked again.
                execute format('lock table %s in access exclusive mode', v_child.child);
                if v_archive and howdah._has_invisible_rows(v_child.child, v_archived) then
                    v_reason := howdah._why_unarchived();
                else
                    update howdah.engine e
                    set journal_dropped_xid = greatest(e.journal_dropped_xid, v_dropped,
                        howdah._greatest_xid(v_child.child, v_dropped)) where e.id = 1;
                    execute format('drop table %s', v_child.child);
                    v_count := v_count + 1;
                end if;
            exception when lock_not_available then
                v_reason := howdah._in_use(array['journal', v_child.name]);
            end;
        end if;
        if v_reason is not null then
            perform howdah._report_blocked_maintenance('journal', v_child.name, v_reason);
            v_left := v_left || v_child.name;
        end if;
    end loop;
    delete from howdah.maintenance_waits w where w.service = 'journal' and w.object <> all (v_left);
    return v_count + howdah._drop_kept(v_due);
end
$$;
