-- howdah.stop_engine(timeout, reason): quiesce the engine, wait until what is under way has ended, and mark the stop.
--
-- Returns  one row as howdah.engine_state(). state is stopped once nothing is under way. It is quiescing after timeout,
--          and then transactions, leases and pids tell what is.
-- Raises   HD005 timeout is not 0 to 1 day, or the transaction is not READ COMMITTED; HD010 called from a
--          maintenance command.
-- Role     howdah_admin
--
-- A stop takes two transactions. A call that finds the engine running or paused only quiesces it, and returns
-- quiescing: COMMIT, and call again until state is stopped. A transaction with an older snapshot, such as that of a
-- backup or an audit, counts as under way.
--
-- The transaction that marks the stop commits synchronously, whatever the caller has set. Its commit flushes all WAL
-- before it, so every message that was sent asynchronously is on disk when it returns.
--
-- After a stop, non-persistent messages are lost: howdah.resume_engine() discards them, and so does the first call
-- after a restart of the server. The restart ends the stop, too.
create or replace function howdah.stop_engine(
    timeout interval default '30 seconds', reason text default null
) returns table (
    state text, since timestamptz, changed_by text, transactions bigint, leases bigint, pids integer[]
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
#variable_conflict use_variable
declare
    v_until timestamptz;
    v_awaited text[];
    v_own boolean;
begin
    if (timeout between interval '0' and interval '1 day') is not true then
        raise exception using errcode = 'HD005', message = 'timeout must be 0 to 1 day',
            hint = 'A call that is not done in time says what is under way; call again.';
    end if;
    v_until := clock_timestamp() + timeout;
    if howdah._engine_state() in ('running', 'paused') then
        perform howdah._enter_state('{running,paused}', 'quiesced', 'quiesced', reason);
    elsif howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'howdah.stop_engine needs READ COMMITTED',
            hint = 'An older snapshot does not show what has ended.';
    end if;
    v_own := (select e.state_xid is not distinct from pg_current_xact_id_if_assigned()::text::bigint
        from howdah.engine e);
    loop
        perform pg_stat_clear_snapshot();
        -- Whoever comes later sees that the engine is quiesced.
        v_awaited := coalesce(v_awaited, array(select o.transaction from howdah._open_transactions() o));
        select e.state, e.since, e.changed_by, o.number, e.leases, o.pids
        into state, since, changed_by, transactions, leases, pids
        from howdah.engine_state() e
        cross join (
            select count(*) as number,
                coalesce(array_agg(t.pid order by t.pid) filter (where t.pid is not null), '{}') as pids
            from howdah._open_transactions() t where t.transaction = any (v_awaited) or t.pid is null
        ) o;
        exit when v_own or state not in ('quiescing', 'quiesced') or transactions = 0 and leases = 0
            or clock_timestamp() >= v_until;
        perform pg_sleep(0.05);
    end loop;
    if not v_own and state in ('quiescing', 'quiesced') and transactions = 0 and leases = 0
       and howdah._enter_state('{quiesced}', 'stopped', 'stopped', reason) then
        if current_setting('synchronous_commit') = 'off' then
            perform set_config('synchronous_commit', 'on', true);
        end if;
        select e.state, e.since, e.changed_by into state, since, changed_by
        from howdah.engine_state() e;
    elsif state = 'quiesced' then
        state := 'quiescing';
    end if;
    return next;
end
$$;
