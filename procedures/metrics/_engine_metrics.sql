-- howdah._engine_metrics(p_most): what the whole engine holds, who works on it, and how far subscriptions and links
-- are.
--
-- Returns  name, labels, value and created. At most p_most subscriptions, those that are furthest behind.
-- Role     internal
--
-- Messages by state come from the background counts, and are left out when those are over two minutes old. A dead
-- message is not ready, and does not make the oldest one older, though its exception destination would deliver it.
create or replace function howdah._engine_metrics(p_most integer)
returns table (name text, labels jsonb, value double precision, created timestamptz)
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
begin
    if howdah._figures_at() is not null then
        return query
        select f.* from (
            select coalesce(sum(b.waiting), 0) as ready, coalesce(sum(b.parked - b.leased), 0) as waiting,
                coalesce(sum(b.leased), 0) as leased, min(b.waiting_sent_at) as oldest_sent_at
            from howdah.backlog_figures b
        ) s
        cross join lateral (values
            ('howdah_messages', '{"state": "ready"}'::jsonb, s.ready::double precision, null::timestamptz),
            ('howdah_messages', '{"state": "waiting"}', s.waiting, null),
            ('howdah_messages', '{"state": "leased"}', s.leased, null),
            ('howdah_messages', '{"state": "dead"}',
                (select coalesce(sum(d.dead), 0) from howdah.dead_figures d), null),
            ('howdah_oldest_message_age_seconds', '{}',
                coalesce(extract(epoch from v_now - s.oldest_sent_at), 0), null)
        ) f;
    end if;
    return query
    select f.* from (
        select count(*) as processes, coalesce(sum(w.sessions), 0) as sessions,
            coalesce(sum((select sum(h.value::numeric) from jsonb_each_text(w.in_hand) h)), 0) as in_hand
        from howdah.workers w where w.heartbeat_at > v_now - interval '1 minute'
    ) s
    cross join lateral (values
        ('howdah_workers', '{}'::jsonb, s.processes::double precision, null::timestamptz),
        ('howdah_worker_sessions', '{}', s.sessions, null),
        ('howdah_messages_in_hand', '{}', s.in_hand, null),
        ('howdah_consumers', '{}', (select count(*) from howdah.consumers), null),
        ('howdah_leases', '{}', (select count(*) from (select from howdah.leases l where l.until > v_now
            limit 100000) c), null),
        ('howdah_queues', '{}', (select count(*) from howdah.destinations d
            where d.kind = 'queue' and d.dropped_at is null), null)
    ) f;
    return query
    select f.suffix, jsonb_build_object('subscription', l.name), f.value, null::timestamptz
    from (
        select d.name, sum(g.behind) as behind, min(g.oldest) as oldest
        from howdah._lags(null) g join howdah.destinations d on d.id = g.subscription_id
        where d.dropped_at is null and ((select howdah._sees_all()) or howdah._sees(d.id))
        group by d.name order by 2 desc nulls last, 1 limit p_most
    ) l
    cross join lateral (values
        ('howdah_subscription_behind', coalesce(l.behind, 0)::double precision),
        ('howdah_subscription_lag_seconds', coalesce(extract(epoch from v_now - l.oldest), 0))
    ) f(suffix, value);
    return query
    select f.* from howdah.links k
    left join howdah.lock o on o.name = 'link:' || k.name and o.expires_at > v_now
    cross join lateral (select jsonb_build_object('link', k.name) as labels) n
    cross join lateral (values
        ('howdah_link_up', n.labels, (k.away_since is null and not k.paused and o.holder is not null)
            ::integer::double precision, null::timestamptz),
        ('howdah_link_away_seconds', n.labels, coalesce(extract(epoch from v_now - k.away_since), 0), null),
        ('howdah_link_forwarded_total', n.labels, k.forwarded, k.created_at)
    ) f
    where howdah._has_right(k.source_id, 'browse') or howdah._has_right(k.source_id, 'admin');
end
$$;
