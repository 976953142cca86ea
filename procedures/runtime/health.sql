-- howdah.health(instance): whether this database serves messages now, by a few checks that count no messages.
--
-- Returns  one row per check: server, schema, engine, maintenance, workers, transformations (if any is used),
--          instances; with an instance, instance in place of instances. state: ok; warning (messages go in and out, but
--          somebody should look); failed (they do not). detail: what was found. advice: what to do; NULL: nothing.
--          facts: the same for programs.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- howdah.check_server asks whether the server is set up well; this asks whether it is fit to serve. A program compares
-- the facts of schema with what it was built for: revision, procedures (a checksum) and roles (owner, administrators,
-- producers, consumers, browsers, auditors). Maintenance counts as late after two minutes, and a worker as silent after
-- one. An instance serves if it is RUNNING, was heard of within engine.instance_timeout_seconds, and was not told to
-- quiesce or to end.
create or replace function howdah.health(instance text default null) returns table (
    name text, state text, detail text, advice text, facts jsonb
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    with moment as materialized (
        select t.at, pg_is_in_recovery() as standby, howdah._engine_state() as engine_state
        from howdah.now() t(at)
    ), lately as materialized (
        select e.totals_at, greatest(m.at - e.totals_at, interval '0') as age from howdah.engine e cross join moment m
    ), worker as materialized (
        select count(*) filter (where w.heartbeat_at > m.at - interval '1 minute') as live, count(w.worker_id) as known
        from moment m left join howdah.workers w on true
    ), instance_state as materialized (
        select i.name, i.waits_for,
            case when i.ending then 'ENDING' when i.quiesced_by is not null then 'QUIESCED' else i.state end as state,
            i.heartbeat_at <= m.at - e.instance_timeout_seconds * interval '1 second' as silent
        from howdah.instances i cross join howdah.engine e cross join moment m
    ), counted as materialized (
        select count(*) as all_of_them, count(*) filter (where i.state = 'RUNNING' and not i.silent) as running
        from instance_state i
    )
    select 'server', case when m.standby then 'failed' else 'ok' end,
        format('PostgreSQL %s, %s, up since %s', current_setting('server_version'),
            case when m.standby then 'a standby' else 'primary' end, pg_postmaster_start_time()),
        case when m.standby then 'Connect to the primary: a standby takes no message and gives none.' end,
        jsonb_build_object('version', current_setting('server_version_num')::integer, 'standby', m.standby,
            'started_at', pg_postmaster_start_time())
    from moment m
    union all
    select 'schema', case when v.version_num is null then 'failed' else 'ok' end,
        coalesce('revision ' || v.version_num, 'no revision'),
        case when v.version_num is null then 'Run howdah migrate.' end,
        jsonb_build_object('revision', v.version_num, 'procedures', e.procedures_checksum, 'roles', jsonb_build_array(
            pg_get_userbyid(n.nspowner), e.admin_role, e.producer_role, e.consumer_role, e.browser_role,
            e.auditor_role))
    from howdah.engine e
    join pg_namespace n on n.nspname = 'howdah'
    left join howdah.alembic_version v on true
    union all
    select 'engine', case m.engine_state when 'running' then 'ok' else 'failed' end, m.engine_state,
        case when m.engine_state <> 'running' then 'Nobody sends or receives: howdah engine resume.' end,
        jsonb_build_object('state', m.engine_state)
    from moment m
    union all
    select 'maintenance', case when l.age <= interval '2 minutes' then 'ok' else 'warning' end,
        coalesce(format('last pass %s s ago', round(extract(epoch from l.age))), 'no pass so far'),
        case when l.age <= interval '2 minutes' then null
            else 'Start a worker: it does the maintenance. If one runs, its log says why there was no pass.' end,
        jsonb_build_object('last_at', l.totals_at, 'age_seconds', round(extract(epoch from l.age)))
    from lately l
    union all
    select 'workers', case when w.live > 0 and w.live = w.known then 'ok' else 'warning' end,
        format('%s live, %s silent', w.live, w.known - w.live),
        case when w.live = 0 then 'No worker runs here: start one with howdah worker.'
            when w.live < w.known then 'howdah workers shows which process is silent.' end,
        jsonb_build_object('live', w.live, 'silent', w.known - w.live)
    from worker w
    union all
    select 'transformations', case when t.unfit is null then 'ok' else 'warning' end,
        case when t.unfit is null then format('%s in use', t.used)
            else format('cannot be called: %s', t.unfit) end,
        case when t.unfit is not null then 'howdah transformation list says why: messages wait, or bridges reject them.'
            end,
        jsonb_build_object('used', t.used, 'unfit', t.unfit)
    from (
        select count(*) as used, string_agg(r.name, ', ' order by r.name)
            filter (where howdah._function_fault(r.function, r.function_owner, 'transformation') is not null) as unfit
        from howdah.transformations r
        where r.name in (select u.transformation from howdah._transformation_users() u)
    ) t
    where t.used > 0
    union all
    select 'instances', case when c.running > 0 or c.all_of_them = 0 then 'ok' else 'warning' end,
        format('%s running, %s not', c.running, c.all_of_them - c.running),
        case when c.running = 0 and c.all_of_them > 0 then 'howdah instance list shows what each of them waits for.'
            end,
        jsonb_build_object('running', c.running, 'not_running', c.all_of_them - c.running)
    from counted c
    where health.instance is null
    union all
    select 'instance', case when i.state = 'RUNNING' and not i.silent then 'ok' else 'failed' end,
        case when i.name is null then format('%s is not registered', health.instance)
            else format('%s is %s', i.name, concat_ws(', ', i.state, 'waits for ' || i.waits_for,
                case when i.silent then 'silent' end)) end,
        case when i.name is null or i.silent then 'It has ended, or does not reach the database: look at its log.'
            when i.state = 'QUIESCED' then 'howdah instance resume lets it receive again.'
            when i.state = 'ENDING' then 'It was told to end, and finishes what it has in hand.'
            when i.state <> 'RUNNING' then 'It serves once its turn comes: howdah instance show.' end,
        jsonb_build_object('name', health.instance, 'state', i.state, 'waits_for', i.waits_for, 'silent', i.silent)
    from (values (health.instance)) asked(name)
    left join instance_state i on i.name = asked.name
    where asked.name is not null
$$;
