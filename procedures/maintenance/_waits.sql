-- howdah._waits(p_service, p_object, p_reason): say what maintenance leaves as it is and why, or that it no longer does.
--
-- Role     internal
--
-- A NOTICE to whoever runs the pass, and a row for howdah.check_server(). p_reason NULL: it is done, or not to be done any more.
create or replace function howdah._waits(p_service text, p_object text, p_reason text) returns void
language plpgsql volatile
as $$
begin
    if p_reason is null then
        delete from howdah.maintenance_waits w where w.service = p_service and w.object = p_object;
        return;
    end if;
    raise notice '% is left as it is: %', p_object, p_reason;
    insert into howdah.maintenance_waits as w (service, object, reason, since) values (p_service, p_object, p_reason, howdah.now())
    on conflict on constraint pk_maintenance_waits do update set reason = excluded.reason where w.reason <> excluded.reason;
end
$$;

-- howdah._in_use(p_tables): who has locks on tables, as a reason to wait.
--
-- Returns  text, such as: it is in use by howdah audit (process 4711).
-- Role     internal
create or replace function howdah._in_use(p_tables text[]) returns text
language sql volatile
as $$
    select 'it is in use by ' || coalesce(
        string_agg(distinct format('%s (process %s)', coalesce(nullif(a.application_name, ''), 'a session'), a.pid), ', '),
        'somebody who has just ended')
    from pg_locks l
    join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.database = (select d.oid from pg_database d where d.datname = current_database()) and l.pid <> pg_backend_pid()
      and l.relation in (select to_regclass('howdah.' || t.name) from unnest(p_tables) t(name))
$$;
