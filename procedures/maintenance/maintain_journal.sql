-- howdah.maintain_journal(lock_epoch): make the journal's partitions a year ahead and drop those past their retention.
--
-- Returns  the number of partitions made and dropped (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- Partitions are weeks from Monday, 00:00 UTC. A new one is created apart and attached, so that no receive waits for
-- it; rows that fell into the default partition stay there, and a week that has such rows is left to it. A partition
-- is dropped once its rows are in journal_totals, if nobody is reading it (lock time-out of 50 ms), else next time.
create or replace function howdah.maintain_journal(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set lock_timeout = '50ms'
as $$
declare
    v_now timestamptz := howdah.now();
    v_week timestamptz;
    v_child record;
    v_name text;
    v_count bigint := 0;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    for v_week in
        select g.monday at time zone 'UTC'
        from generate_series(date_trunc('week', v_now at time zone 'UTC'),
                             date_trunc('week', v_now at time zone 'UTC') + interval '53 weeks', interval '1 week') g(monday)
    loop
        v_name := 'journal_' || to_char(v_week at time zone 'UTC', 'IYYY"w"IW');
        continue when to_regclass('howdah.' || v_name) is not null
            or exists (select from howdah.journal_default d where d.at >= v_week and d.at < v_week + interval '7 days');
        begin
            execute format('create table howdah.%I (like howdah.journal including defaults including constraints)', v_name);
            execute format('alter table howdah.journal attach partition howdah.%I for values from (%L) to (%L)',
                v_name, v_week, v_week + interval '7 days');
            execute format('comment on table howdah.%I is %L', v_name, 'The journal of one week.');
            v_count := v_count + 1;
        exception when lock_not_available then
            return v_count;
        end;
    end loop;
    perform howdah.maintain_totals();
    for v_child in
        select c.oid::regclass as child, to_date(substr(c.relname, 9), 'IYYY"w"IW')::timestamp at time zone 'UTC' as week
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'howdah.journal'::regclass and c.relname ~ '^journal_[0-9]{4}w[0-9]{2}$'
    loop
        continue when v_child.week + interval '7 days'
            > v_now - (select e.journal_retention_days from howdah.engine e where e.id = 1) * interval '1 day';
        begin
            execute format('drop table %s', v_child.child);
            v_count := v_count + 1;
        exception when lock_not_available then
            null;
        end;
    end loop;
    return v_count;
end
$$;
