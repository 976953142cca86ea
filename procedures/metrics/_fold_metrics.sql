-- howdah._fold_metrics(): add what the journal, the incidents and the workers' figures gained to the totals for
-- monitoring.
--
-- Role     internal
--
-- It goes by snapshots, so that a late commit is counted once. A receive of several messages counts each with the wait
-- of the oldest. The journal is read once, the other records by the index of their transaction ids.
--
-- Nobody verifies the calls that workers report. A number that a bigint cannot hold ends at 9e18.
create or replace function howdah._fold_metrics() returns void
language plpgsql volatile
as $$
declare
    v_epoch howdah.metric_epoch := howdah._metric_epoch();
    v_until pg_snapshot;
    v_first bigint;
    v_bounds constant double precision[] := howdah._wait_bounds();
begin
    select e.* into v_epoch from howdah.metric_epoch e for no key update;
    v_first := coalesce(pg_snapshot_xmin(v_epoch.snapshot)::text::bigint, 0);
    v_until := howdah._snapshot();
    with fresh as materialized (
        select j.destination_id, j.event, width_bucket(w.seconds - 0.0000005, v_bounds) as bucket,
            sum(n.messages)::bigint as messages, sum(w.seconds * n.messages) as seconds
        from howdah.journal j
        cross join lateral (select case when j.last_id is null then cardinality(j.message_ids)
            else (j.last_id - j.message_ids[1]) / 1000000 + 1 end as messages) n
        cross join lateral (select case when j.event = 'consumed' then greatest(extract(epoch
            from j.at - j.oldest_sent_at), 0)::double precision end as seconds) w
        where j.at >= v_epoch.since and j.at < howdah.now() + interval '24 hours' and j.event <> 'sent'
          and j.xid >= v_first and pg_visible_in_snapshot(j.xid::text::xid8, v_until)
          and (v_epoch.snapshot is null or not pg_visible_in_snapshot(j.xid::text::xid8, v_epoch.snapshot))
        group by 1, 2, 3
    ), named as materialized (
        select coalesce(d.id, 0) as id, f.event, f.bucket, sum(f.messages)::bigint as messages,
            sum(f.seconds) as seconds
        from fresh f left join howdah.destinations d on d.id = f.destination_id and not d.name ^@ '_TEMP.'
        group by 1, 2, 3
    ), waits as (
        select g.id, 'wait' as metric, array_agg(coalesce(n.messages, 0) order by g.bucket) as counts,
            coalesce(sum(n.seconds), 0) as seconds
        from (select i.id, b.bucket
              from (select distinct o.id from named o where o.bucket is not null) i
              cross join generate_series(0, cardinality(v_bounds)) b(bucket)) g
        left join named n on n.id = g.id and n.bucket = g.bucket group by g.id
    ), handled as (
        select coalesce(d.id, 0) as id, u.n, least(sum(u.calls), 9e18)::bigint as calls,
            sum(f.busy_seconds) filter (where u.n = 1) as seconds
        from howdah.worker_figures f
        cross join lateral unnest(f.handling_counts) with ordinality u(calls, n)
        left join howdah.destinations d on d.name = f.queue and d.dropped_at is null and not d.name ^@ '_TEMP.'
        where f.until_at >= v_epoch.since and f.xid >= v_first
          and pg_visible_in_snapshot(f.xid::text::xid8, v_until)
          and (v_epoch.snapshot is null or not pg_visible_in_snapshot(f.xid::text::xid8, v_epoch.snapshot))
        group by 1, 2
    ), failed as (
        select coalesce(d.id, 0) as id, left(coalesce(p.error_class, p.sqlstate, ''), 100) as class,
            count(*) as failures
        from howdah.poison_details p
        left join howdah.destinations d on d.id = p.destination_id and not d.name ^@ '_TEMP.'
        where p.recorded_at >= v_epoch.since and p.xid >= v_first
          and pg_visible_in_snapshot(p.xid::text::xid8, v_until)
          and (v_epoch.snapshot is null or not pg_visible_in_snapshot(p.xid::text::xid8, v_epoch.snapshot))
        group by 1, 2
    ), timed as (
        insert into howdah.metric_histograms as t (destination_id, metric, counts, seconds)
        select w.id, w.metric, w.counts, w.seconds from waits w
        union all
        select h.id, 'handler', array_agg(h.calls order by h.n), sum(h.seconds) from handled h group by h.id
        on conflict on constraint pk_metric_histograms do update set seconds = t.seconds + excluded.seconds,
            counts = array(select least(u.kept::numeric + u.gained, 9e18)::bigint
                from unnest(t.counts, excluded.counts) with ordinality u(kept, gained, n) order by u.n)
    )
    insert into howdah.metric_totals as t (destination_id, metric, label, total)
    select n.id, 'dequeued', n.event, sum(n.messages)::bigint from named n group by n.id, n.event
    union all
    select f.id, 'failures', f.class, f.failures from failed f
    on conflict on constraint pk_metric_totals do update set total = t.total + excluded.total;
    update howdah.metric_epoch e set snapshot = v_until, folded_at = howdah.now();
end
$$;
