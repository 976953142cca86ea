-- howdah.engine_state(): whether the engine runs, and what is under way.
--
-- Returns  one row. state: running, paused, quiescing (something is under way), quiesced or stopped. since and
--          changed_by: when and by whom it was last changed (NULL: it has always run, or a restart of the server ended
--          a stop). transactions: how many have begun to write, prepared ones included; pids: their processes.
--          leases: how many have not run out.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- howdah.list_leases and howdah.list_transactions show leases and prepared transactions. pg_stat_activity shows what a
-- process does, and howdah.list_acts why the state was changed.
create or replace function howdah.engine_state() returns table (
    state text, since timestamptz, changed_by text, transactions bigint, leases bigint, pids integer[]
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select case when howdah._engine_state() = 'quiesced' and (o.transactions > 0 or l.leases > 0) then 'quiescing'
            else howdah._engine_state() end,
        e.state_at, e.state_by, o.transactions, l.leases, o.pids
    from howdah.engine e
    cross join (
        select count(*) as transactions,
            coalesce(array_agg(t.pid order by t.pid) filter (where t.pid is not null), '{}') as pids
        from howdah._open_transactions() t
    ) o
    cross join howdah._live_leases() l(leases)
$$;
