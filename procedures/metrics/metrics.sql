-- howdah.metrics(queues): what monitoring asks for, in one call: totals, what lies where, and who works on it.
--
-- Returns  one row per sample, as OpenMetrics names it: name, labels (a JSON object of texts) and value. created: when a
--          total or histogram began at zero; NULL for what goes up and down. queues: figures of so many queues, the
--          busiest first; those of the whole engine are always there.
-- Raises   HD005 queues is not 0 to 100000; HD010 called from a maintenance command; HD037 on a standby.
-- Role     howdah_admin howdah_browser howdah_auditor
--
-- Totals never go back while the database lives. Retention, restarts and the failover to a synchronous standby leave
-- them as they are. In a restored database they begin anew. They are as of the last pass of maintain_totals and
-- maintain_backlog; howdah_totals_age_seconds says how old that is. Nothing is counted message by message.
--
-- At journal_level off it is not known what has left.
create or replace function howdah.metrics(queues integer default 100) returns table (
    name text, labels jsonb, value double precision, created timestamptz
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_ids integer[];
    v_epoch howdah.metric_epoch;
begin
    perform howdah._check_all_here();
    perform howdah._refuse_maintenance();
    if queues is null or queues not between 0 and 100000 then
        raise exception using errcode = 'HD005',
            message = format('queues must be 0 to 100000, not %s', coalesce(queues::text, 'NULL'));
    end if;
    v_epoch := howdah._metric_epoch();
    v_ids := howdah._busiest_queues(queues);
    return query select m.* from howdah._engine_metrics(greatest(queues, 1)) m;
    return query select m.* from howdah._server_metrics(v_epoch) m;
    return query select m.* from howdah._flow_metrics(null, coalesce(v_epoch.created_at, howdah.now())) m;
    return query select m.* from howdah._queue_metrics(v_ids) m;
    return query select m.* from howdah._flow_metrics(v_ids, coalesce(v_epoch.created_at, howdah.now())) m;
    return query select 'howdah_queues_shown', '{}'::jsonb, cardinality(v_ids)::double precision, null::timestamptz;
end
$$;
