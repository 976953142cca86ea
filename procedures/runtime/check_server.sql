-- howdah.check_server(): list settings of this server and engine that suit trying out, not production.
--
-- Returns  one row per setting: setting and value; danger: loss (a crash of the machine loses what was committed),
--          stall or slow; advice. No row means that nothing is wrong. One role that owns and uses everything (migrate
--          --one-role) is not reported.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.check_server() returns table (setting text, value text, danger text, advice text)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select c.setting, current_setting(c.setting), c.danger, c.advice
    from (values
        ('fsync', array['off'], 'loss', 'Set it to on: without it a crash of the machine can destroy the database.'),
        ('full_page_writes', array['off'], 'loss', 'Set it to on: a torn page cannot be mended otherwise.'),
        ('synchronous_commit', array['off'], 'loss',
            'Set it to on, local at least: the last commits before a crash are lost otherwise.'),
        ('autovacuum', array['off'], 'stall',
            'Set it to on: queues grow without end otherwise, and the server stops at last.'),
        ('max_prepared_transactions', array['0'], 'stall',
            'Set it to the number of sessions if transactions are to be prepared (XA).'),
        ('shared_buffers', array['128MB', '16MB', '32MB', '64MB'], 'slow',
            'It is PostgreSQL''s default or less; a quarter of the memory is usual.')
    ) c(setting, learning, danger, advice)
    where current_setting(c.setting) = any (c.learning)
    union all
    select 'profile', 'development', 'slow',
        'The embedded server shares this machine with what uses it, and nobody backs it up. Production needs a server '
        'of its own.'
    where current_setting('howdah.embedded', true) = 'on'
    union all
    select 'owner', r.rolname, 'slow',
        'Howdah''s functions run as a superuser, as after pg_restore --no-owner. Restore with the owners of the dump.'
    from pg_namespace n join pg_roles r on r.oid = n.nspowner and r.rolsuper cross join howdah.engine e
    where n.nspname = 'howdah' and r.rolname <> e.admin_role
    union all
    select 'engine', 'persistent: false', 'loss',
        'Every message is non-persistent, and every restart of the server loses it: howdah engine alter -o '
        'persistent=true.'
    from howdah.engine e where not e.persistent
    union all
    select 'engine', s.state, 'stall', 'Nobody sends or receives: howdah engine resume.'
    from howdah._engine_state() s(state) where s.state <> 'running'
    union all
    select 'destination ' || d.name, 'persistent: false', 'loss', 'Memory mode: every restart of the server empties it.'
    from howdah.destinations d where d.dropped_at is null and not d.own_persistent and not d.name ^@ '_TEMP.'
    union all
    select 'destination ' || d.name, 'journal_level: off', 'loss',
        'What became of its messages is not recorded; an audit can prove nothing.'
    from howdah.destinations d where d.dropped_at is null and d.journal_level = 'off' and d.kind <> 'subscription'
        and not d.name ^@ '_TEMP.'
    union all
    select 'right of ' || g.role_name, g.verb || ' ' || d.name, 'slow',
        'No role has this name: a new one of it would have the right. howdah.revoke_queue takes it back.'
    from howdah.destination_grants g join howdah.destinations d on d.id = g.destination_id
    cross join howdah.engine e
    where d.dropped_at is null and g.allow and g.rule_set in (e.rule_set, '') and g.role_name <> '*'
      and not exists (select from pg_roles r where r.rolname = g.role_name)
    union all
    select 'prepared transaction ' || x.gid, 'since ' || x.prepared, 'stall',
        'It holds vacuum back in the whole server: commit it or roll it back (howdah.list_transactions).'
    from pg_prepared_xacts x where x.database = current_database() and x.prepared < howdah.now() - interval '1 hour'
    union all
    select 'maintenance ' || w.service, 'waits since ' || w.since, 'stall',
        format('%s is left as it is: %s.', w.object, w.reason)
    from howdah.maintenance_waits w
    union all
    select 'audit', r.severity || ' ' || r.finished_at, case r.severity when 'error' then 'loss' else 'stall' end,
        case r.severity when 'error' then 'Not every message is accounted for: howdah audit --last.'
            else 'The last audit could not be made: ' || coalesce(r.reason, 'howdah audit --last') end
    from (select * from howdah.audit_runs order by run_id desc limit 1) r where r.severity in ('error', 'failed');
$$;
