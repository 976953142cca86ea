-- howdah._server_metrics(p_epoch): what audits found, how old the counts are, and how well the server cleans up.
--
-- Returns  name, labels, value and created (NULL).
-- Role     internal
--
-- The horizon of vacuum is the oldest transaction that somebody may still see. It belongs to a session of this
-- database, a prepared transaction or a replication slot. A session that the owner of the functions may not look at
-- counts by its own transaction alone.
create or replace function howdah._server_metrics(p_epoch howdah.metric_epoch)
returns table (name text, labels jsonb, value double precision, created timestamptz)
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
begin
    return query
    select f.*, null::timestamptz
    from (select r.* from howdah.audit_runs r where r.taken_at is not null order by r.run_id desc limit 1) a
    cross join lateral (values
        ('howdah_audit_age_seconds', '{}'::jsonb, extract(epoch from v_now - a.taken_at)::double precision),
        ('howdah_audit_findings', '{"severity": "error"}', a.errors),
        ('howdah_audit_findings', '{"severity": "warning"}', a.warnings),
        ('howdah_audit_passed', '{}', (a.severity in ('none', 'warning'))::integer)
    ) f;
    return query
    select 'howdah_audit_queues', jsonb_build_object('verdict', v.verdict), count(*)::double precision,
        null::timestamptz
    from howdah.audit_verdicts v group by v.verdict;
    return query
    select f.*, null::timestamptz from (values
        ('howdah_totals_age_seconds', extract(epoch from v_now - p_epoch.folded_at)::double precision),
        ('howdah_counts_age_seconds', extract(epoch from v_now - (select c.counted_at from howdah.backlog_counts c))),
        ('howdah_vacuum_horizon_transactions', (select coalesce(max(greatest(x.age, 0)), 0) from (
            select age(a.backend_xmin) as age from pg_stat_activity a
            where a.datname = current_database() and a.pid <> pg_backend_pid()
            union all select age(p.transaction) from pg_prepared_xacts p where p.database = current_database()
            union all select age(s.xmin) from pg_replication_slots s
            union all select (pg_snapshot_xmax(g.g)::text::bigint - pg_snapshot_xmin(g.g)::text::bigint)::integer
            from pg_current_snapshot() g(g)) x)),
        ('howdah_vacuum_horizon_age_seconds', (select coalesce(max(extract(epoch from v_now - x.at)), 0) from (
            select a.xact_start as at from pg_stat_activity a
            where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_xmin is not null
            union all select p.prepared from pg_prepared_xacts p where p.database = current_database()) x))
    ) s(name, value)
    cross join lateral (select s.name, '{}'::jsonb, greatest(s.value, 0)) f
    where s.value is not null;
    return query
    select f.*, null::timestamptz from howdah.list_storage() s
    cross join lateral (values
        ('howdah_table_dead_rows', jsonb_build_object('table', s.table_name), s.dead_rows::double precision),
        ('howdah_table_bytes', jsonb_build_object('table', s.table_name), s.bytes)
    ) f;
    return query
    select 'howdah_engine_state', jsonb_build_object('state', s.state), (e.state = s.state)::integer::double precision,
        null::timestamptz
    from howdah.engine e cross join unnest(array['running', 'paused', 'quiesced', 'stopped']) s(state);
end
$$;
