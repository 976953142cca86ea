-- howdah.list_audits(max_runs, made, …): list the last audits, newest first.
--
-- Returns  rows of audit_runs. queues is given only if max_runs is 1, because it may be long, and only to
--          administrators and auditors, because it names all queues. snapshot is given only
--          while it means something in this cluster, and not after a restore into another. made: leave out audits that
--          failed. before: only audits before that run_id; NULL: all.
-- Raises   HD005 max_runs is not 1 to 10000; HD010 called from a maintenance command.
-- Role     howdah_auditor howdah_admin howdah_browser
create or replace function howdah.list_audits(max_runs integer, made boolean, before bigint) returns table (
    run_id bigint, started_at timestamptz, finished_at timestamptz, taken_at timestamptz, snapshot text, severity text,
    exit_code integer, errors bigint, warnings bigint, rows_read bigint, queues jsonb, rules jsonb, reason text,
    version text, output text, recorded_by text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if max_runs is null or max_runs not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_runs must be 1 to 10000, not %s', coalesce(max_runs::text, 'NULL'));
    end if;
    return query
    select r.run_id, r.started_at, r.finished_at, r.taken_at,
        case when r.system_identifier = c.system_identifier
            and pg_snapshot_xmax(r.snapshot::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
            then r.snapshot end,
        r.severity, r.exit_code, r.errors, r.warnings, r.rows_read,
        case when max_runs = 1 and howdah._sees_all() then r.queues end, r.rules, r.reason, r.version, r.output,
        r.recorded_by
    from howdah.audit_runs r
    cross join pg_control_system() c
    where (r.taken_at is not null or made is not true) and (before is null or r.run_id < before)
    order by r.run_id desc
    limit max_runs;
end
$$;

create or replace function howdah.list_audits(max_runs integer default 20, made boolean default false) returns table (
    run_id bigint, started_at timestamptz, finished_at timestamptz, taken_at timestamptz, snapshot text, severity text,
    exit_code integer, errors bigint, warnings bigint, rows_read bigint, queues jsonb, rules jsonb, reason text,
    version text, output text, recorded_by text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select * from howdah.list_audits(list_audits.max_runs, list_audits.made, null)
$$;
