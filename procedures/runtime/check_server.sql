-- howdah.check_server(): settings of this server and engine that are for learning, not for work.
--
-- Returns  one row for each: setting and value; danger: loss (a crash of the machine loses what was committed), stall or slow;
--          advice. None: nothing to say.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.check_server() returns table (setting text, value text, danger text, advice text)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select c.setting, current_setting(c.setting), c.danger, c.advice
    from (values
        ('fsync', array['off'], 'loss', 'Set it to on: without it a crash of the machine can destroy the database.'),
        ('full_page_writes', array['off'], 'loss', 'Set it to on: a torn page cannot be mended otherwise.'),
        ('synchronous_commit', array['off'], 'loss', 'Set it to on, local at least: the last commits before a crash are lost otherwise.'),
        ('autovacuum', array['off'], 'stall', 'Set it to on: queues grow without end otherwise, and the server stops at last.'),
        ('max_prepared_transactions', array['0'], 'stall', 'Set it to the number of sessions if transactions are to be prepared (XA).'),
        ('shared_buffers', array['128MB', '16MB', '32MB', '64MB'], 'slow', 'It is PostgreSQL''s default or less; a quarter of the memory is usual.')
    ) c(setting, learning, danger, advice)
    where current_setting(c.setting) = any (c.learning)
    union all
    select 'destination ' || d.name, 'persistent: false', 'loss', 'Memory mode: every restart of the server empties it.'
    from howdah.destinations d where d.dropped_at is null and not d.persistent
    union all
    select 'destination ' || d.name, 'journal_level: off', 'loss', 'What became of its messages is not recorded; an audit can prove nothing.'
    from howdah.destinations d where d.dropped_at is null and d.journal_level = 'off' and d.kind <> 'subscription'
    union all
    select 'roles', e.admin_role, 'loss', 'One role owns and uses everything; howdah migrate without --one-role makes six.'
    from howdah.engine e where e.admin_role = e.producer_role
$$;
