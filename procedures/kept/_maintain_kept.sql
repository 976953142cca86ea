-- howdah._maintain_kept(): create the partitions of kept_messages for the next weeks, and find those that may go.
--
-- Returns  the number of partitions created, and those of weeks that have nothing left to show: howdah._drop_kept.
-- Role     internal
--
-- howdah.maintain_journal calls it, with its settings. There are partitions only where a queue keeps bodies, or
-- something was kept. Rows without a partition lie in the default one, and a week with such rows is left to it.
--
-- A partition goes as a whole once its week is over and all its rows are past their time. Where rows without an end
-- hold a partition, the others that are past their time are deleted one by one.
create or replace function howdah._maintain_kept(out p_created bigint, out p_due regclass[]) returns record
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_week timestamptz;
    v_name text;
    v_child record;
    v_goes boolean;
begin
    p_created := 0;
    p_due := '{}';
    if not exists (select from howdah.destinations d where d.keep_bodies_ms is not null and d.dropped_at is null)
       and not exists (select from howdah.kept_messages)
       and not exists (select from pg_inherits i where i.inhparent = 'howdah.kept_messages'::regclass offset 1) then
        return;
    end if;
    for v_week in
        select g.monday at time zone 'UTC'
        from generate_series(date_trunc('week', v_now at time zone 'UTC'),
                             date_trunc('week', v_now at time zone 'UTC') + interval '8 weeks',
                             interval '1 week') g(monday)
    loop
        v_name := 'kept_messages_' || to_char(v_week at time zone 'UTC', 'IYYY"w"IW');
        continue when to_regclass('howdah.' || v_name) is not null
            or exists (select from howdah.kept_messages_default k
                       where k.kept_at >= v_week and k.kept_at < v_week + interval '7 days');
        begin
            execute format('create table howdah.%I (like howdah.kept_messages including defaults including constraints '
                'including storage including indexes)', v_name);
            execute format('alter table howdah.kept_messages attach partition howdah.%I for values from (%L) to (%L)',
                v_name, v_week, v_week + interval '7 days');
            execute format('comment on table howdah.%I is %L', v_name, 'Messages kept in one week.');
            p_created := p_created + 1;
        exception when check_violation then
            null;  -- rows of that week were committed meanwhile: they stay where they are
        when lock_not_available then
            perform howdah._report_blocked_maintenance('kept', v_name,
                howdah._in_use(array['kept_messages', 'kept_messages_default']));
            return;
        end;
        perform howdah._report_blocked_maintenance('kept', v_name, null);
    end loop;
    for v_child in
        select c.* from howdah._kept_weeks() c where c.week + interval '7 days' <= v_now or c.week is null
    loop
        begin
            execute format('select not exists (select from %s k where k.kept_until > %L) and %s', v_child.child, v_now,
                case when v_child.week is null then format('exists (select from %s)', v_child.child) else 'true' end)
            into v_goes;
            if v_goes then
                p_due := p_due || v_child.child;
            else
                execute format('delete from %s k where k.kept_until <= %L and exists (select from %s e '
                    'where e.kept_until = ''infinity'')', v_child.child, v_now, v_child.child);
                perform howdah._report_blocked_maintenance('kept', v_child.name, null);
            end if;
        exception when lock_not_available then
            perform howdah._report_blocked_maintenance('kept', v_child.name,
                howdah._in_use(array['kept_messages', v_child.name]));
        end;
    end loop;
end
$$;
