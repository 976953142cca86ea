-- howdah.record_audit(started_at, exit_code, severity, taken_at, snapshot, errors, warnings, rows_read, queues, rules,
-- reason, version, output, lock_epoch): record what an audit found.
--
-- Returns  the audit's run_id (bigint).
-- Raises   HD005 wrong argument; HD010 called from a maintenance command; HD014 somebody else audits by now.
-- Role     howdah_auditor howdah_admin
--
-- queues and rules are JSON arrays of objects. queue_stats shows queue and verdict from queues, unless a later snapshot
-- was judged already.
--
-- If a snapshot is given, the next audit counts on from it. Then each of queues has live, parked and dead: whole
-- numbers whose sum is below 2^63. The snapshot cannot be one of the future. severity failed: there was no audit, and
-- reason says why.
create or replace function howdah.record_audit(
    started_at timestamptz, exit_code integer, severity text, taken_at timestamptz default null,
    snapshot text default null, errors bigint default 0, warnings bigint default 0, rows_read bigint default 0,
    queues jsonb default '[]', rules jsonb default '[]', reason text default null, version text default null,
    output text default null, lock_epoch bigint default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_run bigint;
    v_counts text[];
begin
    perform howdah._refuse_maintenance();
    if started_at is null or exit_code is null or severity is null
       or severity not in ('none', 'warning', 'error', 'failed') then
        raise exception using errcode = 'HD005', message = 'an audit has started_at, exit_code and a severity',
            hint = 'severity is none, warning, error or failed.';
    end if;
    if not isfinite(started_at) or not isfinite(taken_at) or least(started_at, taken_at) < '1970-01-01 00:00:00+00'
       or greatest(started_at, taken_at) > howdah.now() + interval '24 hours' then
        raise exception using errcode = 'HD005', message = 'an audit''s times lie between 1970 and now',
            hint = 'started_at and taken_at may be ahead of the database''s clock by a day at most.';
    end if;
    if (severity = 'failed') = (taken_at is not null) then
        raise exception using errcode = 'HD005',
            message = 'an audit that was made has taken_at, and one that failed has none',
            hint = 'taken_at is the time of the snapshot that was read.';
    end if;
    if jsonb_typeof(queues) is distinct from 'array' or jsonb_typeof(rules) is distinct from 'array'
       or jsonb_path_exists(queues || rules, 'strict $[*] ? (@.type() != "object")')
       or jsonb_path_exists(queues, '$[*] ? (!(@.queue.type() == "string" && @.verdict.type() == "string"))') then
        raise exception using errcode = 'HD005',
            message = 'queues and rules are arrays of objects, those of queues with queue and verdict',
            hint = 'Such as [{"queue": "orders", "verdict": "proved"}].';
    end if;
    begin
        perform snapshot::pg_snapshot;
    exception when invalid_text_representation then
        raise exception using errcode = 'HD005', message = format('%s is no snapshot', quote_literal(snapshot)),
            hint = 'It has the form of pg_current_snapshot().';
    end;
    if pg_snapshot_xmax(snapshot::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) then
        raise exception using errcode = 'HD005', message = format('the snapshot %s lies in the future', snapshot),
            hint = 'It is what pg_current_snapshot() returned to the audit in this cluster.';
    end if;
    if snapshot is not null and taken_at is not null then
        -- NULL stands for what is missing or no number. The sum is computed only if each has the form of a whole
        -- number.
        select array_agg(case when jsonb_typeof(q.value -> n.name) = 'number' then q.value ->> n.name end) into v_counts
        from jsonb_array_elements(queues) q cross join unnest(array['live', 'parked', 'dead']) n(name);
        if exists (select from unnest(v_counts) c(count) where c.count is null or c.count !~ '^[0-9]{1,19}$')
           or (select sum(c.count::numeric) from unnest(v_counts) c(count)) > 9223372036854775807 then
            raise exception using errcode = 'HD005',
                message = 'queues of a snapshot have live, parked and dead, whole numbers whose sum is below 2^63',
                hint = 'Such as [{"queue": "orders", "verdict": "proved", "live": 2, "parked": 0, "dead": 0}].';
        end if;
    end if;
    if lock_epoch is not null then
        perform howdah._fence('audit', lock_epoch);
    end if;
    insert into howdah.audit_runs (started_at, finished_at, taken_at, snapshot, system_identifier, severity, exit_code,
        errors, warnings, rows_read, queues, rules, reason, version, output, recorded_by)
    values (record_audit.started_at, howdah.now(), record_audit.taken_at, record_audit.snapshot,
        (select c.system_identifier from pg_control_system() c), record_audit.severity, record_audit.exit_code,
        coalesce(record_audit.errors, 0), coalesce(record_audit.warnings, 0), coalesce(record_audit.rows_read, 0),
        record_audit.queues, record_audit.rules, record_audit.reason, record_audit.version, record_audit.output,
        howdah._caller())
    returning run_id into v_run;
    if record_audit.taken_at is not null then
        insert into howdah.audit_verdicts as v (destination_id, run_id, audited_at, verdict)
        select d.id, v_run, record_audit.taken_at, min(q.verdict)
        from jsonb_to_recordset(record_audit.queues) q(queue text, verdict text)
        join howdah.destinations d on d.name = q.queue and d.dropped_at is null
        group by d.id order by d.id
        on conflict on constraint pk_audit_verdicts do update set run_id = excluded.run_id,
            audited_at = excluded.audited_at, verdict = excluded.verdict
        where v.audited_at <= excluded.audited_at;
        delete from howdah.audit_verdicts v
        where exists (select from howdah.destinations d where d.id = v.destination_id and d.dropped_at is not null);
    end if;
    if record_audit.lock_epoch is not null then
        perform howdah._release_audit(record_audit.lock_epoch);
    end if;
    return v_run;
end
$$;
