-- howdah.restore_changes(backup, prune): make the configuration what a backup says.
--
-- Returns  how many things were made, altered or dropped (bigint).
-- Raises   HD005 it is no backup; HD011 never, for what holds messages stays; HD045 the master of changes is away;
--          HD001, HD002, HD003, HD004, HD010, HD012, HD020, HD021, HD023, HD024, HD025, HD027, HD029, HD040, HD041,
--          HD042, HD044, HD047, HD048, HD049 as the verbs that it calls.
-- Role     howdah_admin
--
-- backup has the lines of howdah.backup_changes(). What is missing is made, and what differs is altered. prune: what
-- the backup does not have is dropped, if that loses no message; otherwise it stays. A topic stays that still has
-- subscriptions. What created itself stays as well. All of it is one transaction.
--
-- The record begins anew with a new identity. Readers that stood in the former one are told so. An empty record also
-- gets the changes of the backup.
create or replace function howdah.restore_changes(backup jsonb[], prune boolean default false) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_old constant uuid := (select e.record_id from howdah.engine e);
    v_new constant uuid := gen_random_uuid();
    v_line jsonb;
    v_extra record;
    v_count bigint := 0;
begin
    perform howdah._refuse_maintenance();
    if (backup[1] ->> 'howdah' = 'changes' and backup[1] ->> 'version' = '1') is not true
       or exists (select from unnest(backup[2:]) l(line)
                  where (jsonb_typeof(l.line -> 'change') = 'object'
                          and (l.line #>> '{change,change_id}') ~ '^[1-9][0-9]{0,14}$'
                      or jsonb_typeof(l.line -> 'properties') = 'object' and l.line ->> 'name' is not null
                      and l.line ->> 'kind' in ('engine', 'policy', 'queue', 'topic', 'subscription', 'alias', 'bridge',
                          'listener', 'link', 'rule_set', 'rule', 'service', 'object',
                          'transformation', 'redaction')) is not true) then
        raise exception using errcode = 'HD005', message = 'this is no backup of the record of changes',
            hint = 'howdah.backup_changes() returns its lines.';
    end if;
    perform howdah._restore_history(array(select l.line -> 'change' from unnest(backup[2:]) l(line)
        where l.line ? 'change'));
    foreach v_line in array backup[2:] loop
        continue when v_line ? 'change';
        if v_line ->> 'kind' = 'engine' then
            v_line := v_line || jsonb_build_object('name', (select e.name from howdah.engine e));
        end if;
        if howdah._properties(v_line ->> 'kind', v_line ->> 'name') is distinct from (v_line -> 'properties') - 'grants'
        then
            perform howdah._apply(v_line ->> 'kind', v_line ->> 'name', v_line -> 'properties');
            v_count := v_count + 1;
        end if;
        perform howdah._set_grants(v_line ->> 'name', v_line -> 'properties' -> 'grants', false);
    end loop;
    for v_extra in
        select c.kind, c.name from howdah._catalogue() c
        where prune and not exists (select from unnest(backup[2:]) l(line)
            where l.line ->> 'kind' = c.kind and (l.line ->> 'name' = c.name or c.kind = 'engine'))
        order by c.n desc
    loop
        begin
            perform howdah._apply(v_extra.kind, v_extra.name, null);
            v_count := v_count + 1;
        exception when sqlstate 'HD011' then
            null;  -- it holds messages or has subscriptions, and stays
        end;
    end loop;
    update howdah.engine e set record_id = v_new;
    perform setval('howdah.changes_dropped', 1, false);
    perform howdah._record_change('cluster', 'record', 'altered', jsonb_build_object('record_id', v_old),
        jsonb_build_object('record_id', v_new, 'restored', backup[1] -> 'record_id', 'of', backup[1] -> 'at'));
    return v_count;
end
$$;
