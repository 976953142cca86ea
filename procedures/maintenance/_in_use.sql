-- howdah._in_use(p_tables): who holds locks on tables, as a reason to wait.
--
-- Returns  text, such as: it is in use by howdah audit (process 4711).
-- Role     internal
create or replace function howdah._in_use(p_tables text[]) returns text
language sql volatile
as $$
    select 'it is in use by ' || coalesce(
        string_agg(distinct format('%s (process %s)', coalesce(nullif(a.application_name, ''), 'a session'), a.pid),
            ', '),
        'somebody who has just ended')
    from pg_locks l
    join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.pid <> pg_backend_pid()
      and l.relation in (select to_regclass('howdah.' || t.name) from unnest(p_tables) t(name))
$$;
