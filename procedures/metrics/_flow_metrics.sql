-- howdah._flow_metrics(p_ids, p_created): totals and histograms of queues, or of the whole engine.
--
-- Returns  name, labels, value and created. p_ids NULL: one figure for all destinations.
-- Role     internal
create or replace function howdah._flow_metrics(p_ids integer[], p_created timestamptz)
returns table (name text, labels jsonb, value double precision, created timestamptz)
language plpgsql stable
as $$
declare
    v_prefix text := case when p_ids is null then 'howdah_' else 'howdah_queue_' end;
begin
    return query
    select v_prefix || case t.metric when 'failures' then 'failures_total' else 'messages_' || t.metric || '_total' end,
        jsonb_strip_nulls(jsonb_build_object('queue', d.name)) || case t.metric when 'enqueued' then '{}'
            when 'dequeued' then jsonb_build_object('outcome', t.label)
            else jsonb_build_object('error_class', t.label) end,
        sum(t.total)::double precision, p_created
    from (select m.destination_id, m.metric, m.label, m.total from howdah.metric_totals m
          union all  -- those of the engine show when they began, before anything was counted
          select 0, z.metric, z.label, 0 from (values ('enqueued', ''), ('dequeued', 'consumed')) z(metric, label)
          where p_ids is null) t
    left join howdah.destinations d on d.id = t.destination_id and p_ids is not null
    where p_ids is null or t.destination_id = any (p_ids)
    group by t.metric, t.label, d.name;
    return query
    with kept as (
        select h.metric, d.name as queue, h.counts::numeric[] as counts, h.seconds
        from howdah.metric_histograms h join howdah.destinations d on d.id = h.destination_id
        where h.destination_id = any (p_ids)
        union all
        select s.metric, null, array_agg(s.calls order by s.n), sum(s.seconds)
        from (
            select h.metric, u.n, sum(u.calls) as calls, sum(h.seconds) filter (where u.n = 1) as seconds
            from howdah.metric_histograms h cross join lateral unnest(h.counts) with ordinality u(calls, n)
            where p_ids is null group by h.metric, u.n
        ) s group by s.metric
    )
    select v_prefix || k.metric || '_seconds' || f.suffix,
        jsonb_strip_nulls(jsonb_build_object('queue', k.queue, 'le', f.le)), f.value, p_created
    from kept k
    cross join lateral (
        select '_bucket' as suffix, b.le, b.messages::double precision as value
        from howdah._bucket_rows(k.metric, k.counts) b
        union all select '_count', null, (select sum(c.c) from unnest(k.counts) c(c))::double precision
        union all select '_sum', null, k.seconds
    ) f;
end
$$;
