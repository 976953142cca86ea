-- howdah._drop_kept(p_due): drop partitions of kept_messages that have nothing left to show.
--
-- Returns  the number of partitions dropped (bigint).
-- Role     internal
--
-- p_due is from howdah._maintain_kept. This comes last in a transaction: until its end no consumer can keep a message.
-- So the call looks at the partitions once more before it drops the first.
create or replace function howdah._drop_kept(p_due regclass[]) returns bigint
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_child record;
    v_goes boolean;
    v_going regclass[] := '{}';
    v_count bigint := 0;
begin
    for v_child in select c.* from howdah._kept_weeks() c where c.child = any (p_due) loop
        begin
            -- A transaction that kept a message there may have been open when the partition was looked at first.
            execute format('lock table %s in access exclusive mode', v_child.child);
            execute format('select not exists (select from %s k where k.kept_until > %L)', v_child.child, v_now)
            into v_goes;
            if v_goes then
                v_going := v_going || v_child.child;
            end if;
        exception when lock_not_available then
            perform howdah._report_blocked_maintenance('kept', v_child.name,
                howdah._in_use(array['kept_messages', v_child.name]));
        end;
    end loop;
    for v_child in select c.* from howdah._kept_weeks() c where c.child = any (v_going) loop
        begin
            execute format(case when v_child.week is null then 'truncate %s' else 'drop table %s' end, v_child.child);
            v_count := v_count + (v_child.week is not null)::integer;
            perform howdah._report_blocked_maintenance('kept', v_child.name, null);
        exception when lock_not_available then
            perform howdah._report_blocked_maintenance('kept', v_child.name,
                howdah._in_use(array['kept_messages', v_child.name]));
        end;
    end loop;
    return v_count;
end
$$;
