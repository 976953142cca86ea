-- howdah._queue_metrics(p_ids): what lies in each of some queues, who receives from it, and how far its
-- limits of handlers are used.
--
-- Returns  name, labels, value and created (NULL).
-- Role     internal
--
-- Only queues that keep bodies have an age of what they keep. It includes rows past their time, until their week is
-- dropped.
--
-- It shows background counts of the last two minutes. Otherwise each queue is counted or estimated now.
create or replace function howdah._queue_metrics(p_ids integer[])
returns table (name text, labels jsonb, value double precision, created timestamptz)
language plpgsql stable
as $$
declare
    v_now timestamptz := howdah.now();
    v_counted_at timestamptz := howdah._figures_at();
begin
    return query
    with shown as materialized (
        select d.id, d.name as queue, b.live, b.parked, b.leased, b.oldest_sent_at
        from howdah.destinations d
        left join howdah.backlog_figures f on f.destination_id = d.id and v_counted_at is not null
        cross join lateral (
            select coalesce(f.live, 0) as live, coalesce(f.parked, 0) as parked, coalesce(f.leased, 0) as leased,
                f.oldest_sent_at
            where v_counted_at is not null
            union all
            select l.live, l.parked, least(l.parked,
                (select count(*) from (select from howdah.leased o where o.destination_id = d.id limit 10001) c)
                + (select count(*) from (select from howdah.parked p
                    where p.destination_id = d.id and p.parked_reason = 'lease'
                      and (p.boot is null or p.boot = pg_postmaster_start_time())
                    limit 10001) c)), l.oldest_sent_at
            from howdah._backlog(d.id) l where v_counted_at is null
        ) b
        where d.id = any (p_ids)
    ), dead as (
        select x.origin_id, x.dead from howdah._dead_by_destination() x where x.origin_id = any (p_ids)
    ), registered as (
        select q.name as queue, count(*) as workers
        from howdah.workers w cross join lateral unnest(w.queues) q(name)
        where w.heartbeat_at > v_now - interval '1 minute' group by q.name
    ), opened as (
        select c.destination_id, count(*) as consumers from howdah.consumers c
        where c.destination_id = any (p_ids) group by c.destination_id
    )
    select 'howdah_queue_' || f.suffix, jsonb_build_object('queue', s.queue) || f.labels, f.value, null::timestamptz
    from shown s
    left join dead x on x.origin_id = s.id
    left join registered r on r.queue = s.queue
    left join opened o on o.destination_id = s.id
    cross join lateral (values
        ('messages', '{"state": "ready"}'::jsonb, s.live::double precision),
        ('messages', '{"state": "waiting"}', s.parked - s.leased),
        ('messages', '{"state": "leased"}', s.leased),
        ('messages', '{"state": "dead"}', coalesce(x.dead, 0)),
        ('oldest_message_age_seconds', '{}', coalesce(extract(epoch from v_now - s.oldest_sent_at), 0)),
        ('workers', '{}', coalesce(r.workers, 0)),
        ('consumers', '{}', coalesce(o.consumers, 0))
    ) f(suffix, labels, value)
    union all
    select 'howdah_queue_' || f.suffix, jsonb_build_object('queue', d.name) || f.labels, f.value, null
    from howdah.destinations d
    cross join lateral howdah._permits_used(d) u
    cross join lateral (values
        ('max_concurrent', '{}'::jsonb, d.max_concurrent::double precision),
        ('permits_in_use', '{"by": "receives"}', u.in_hand),
        ('permits_in_use', '{"by": "leases"}', u.leased),
        ('rate_opens_seconds', '{}', case when d.rate_limit is not null or d.rate_limit_per_key is not null
            then coalesce(extract(epoch from howdah._rate_opens_in(d)), 0) end)
    ) f(suffix, labels, value)
    where d.id = any (p_ids) and d.limited and f.value is not null;
    return query
    select 'howdah_queue_oldest_kept_age_seconds', jsonb_build_object('queue', d.name),
        coalesce(extract(epoch from v_now - k.kept_at), 0)::double precision, null::timestamptz
    from howdah.destinations d
    left join lateral (
        select m.kept_at from howdah.kept_messages m where m.destination_id = d.id
        order by m.kept_at, m.message_id limit 1
    ) k on true
    where d.id = any (p_ids) and d.keep_bodies_ms is not null;
end
$$;
