-- howdah.maintain_backlog(lock_epoch): count what is too much to count at each look.
--
-- Returns  the number of queues whose figures changed (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- It counts live and parked messages in one pass over each table, and dead ones by exception destination. Messages
-- that came to an exception destination from another queue are live there, but do not wait. Unchanged figures are not
-- written. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_backlog(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_changed bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    perform howdah._latch('backlog');
    perform howdah._metric_epoch();
    with counted as materialized (
        select c.destination_id as id, sum(c.live)::bigint as live, sum(c.parked)::bigint as parked,
            sum(c.leased)::bigint as leased, min(c.oldest_sent_at) as oldest_sent_at,
            (case when x.x is null then sum(c.live) else sum(c.own) end)::bigint as waiting,
            case when x.x is null then min(c.oldest_sent_at) else min(c.own_sent_at) end as waiting_sent_at
        from (
            select m.destination_id, count(*) as live, 0 as parked, 0 as leased, min(m.sent_at) as oldest_sent_at,
                count(*) filter (where m.origin_id is null) as own,
                min(m.sent_at) filter (where m.origin_id is null) as own_sent_at
            from howdah.msgs m group by m.destination_id
            union all
            select n.destination_id, count(*), 0, 0, min(n.sent_at), count(*) filter (where n.origin_id is null),
                min(n.sent_at) filter (where n.origin_id is null)
            from howdah.msgs_nonpersistent n where n.boot = pg_postmaster_start_time() group by n.destination_id
            union all
            select p.destination_id, 0, count(*), count(*) filter (where p.parked_reason = 'lease'),
                min(p.due_at) filter (where p.due_at <= v_now), 0,
                min(p.due_at) filter (where p.due_at <= v_now and p.origin_id is null)
            from howdah.parked p where p.boot is null or p.boot = pg_postmaster_start_time() group by p.destination_id
            union all
            select l.destination_id, 0, count(*), count(*), null, 0, null
            from howdah.leased l group by l.destination_id
        ) c
        left join howdah._exception_destinations() x(x) on x.x = c.destination_id
        group by c.destination_id, x.x
    ), gone as (
        delete from howdah.backlog_figures f where not exists (select from counted c where c.id = f.destination_id)
        returning f.destination_id
    ), came as (
        insert into howdah.backlog_figures as f (destination_id, live, parked, leased, oldest_sent_at, waiting,
            waiting_sent_at)
        select c.id, c.live, c.parked, c.leased, c.oldest_sent_at, c.waiting, c.waiting_sent_at from counted c
        on conflict on constraint pk_backlog_figures do update
            set live = excluded.live, parked = excluded.parked, leased = excluded.leased,
                oldest_sent_at = excluded.oldest_sent_at, waiting = excluded.waiting,
                waiting_sent_at = excluded.waiting_sent_at
            where (f.live, f.parked, f.leased, f.oldest_sent_at, f.waiting, f.waiting_sent_at)
                is distinct from (excluded.live, excluded.parked, excluded.leased, excluded.oldest_sent_at,
                    excluded.waiting, excluded.waiting_sent_at)
        returning f.destination_id
    ), enqueued as (  -- of one snapshot with the count: what lies there and what has left
        insert into howdah.metric_totals as t (destination_id, metric, label, total, level, gained, changed_at)
        select d.id, 'enqueued', '', l.level, l.level, l.level, v_now
        from howdah.destinations d
        left join counted c on c.id = d.id
        left join howdah._dequeued() x on x.destination_id = d.id
        cross join lateral (select coalesce(c.live + c.parked, 0) + coalesce(x.messages, 0) as level) l
        where d.kind = 'queue' and not d.name ^@ '_TEMP.' and (l.level > 0 or d.dropped_at is null)
        on conflict on constraint pk_metric_totals do update
            set total = t.total + greatest(excluded.level - t.level, 0), level = excluded.level,
                gained = greatest(excluded.level - t.level, 0), changed_at = excluded.changed_at
            where t.level <> excluded.level
    ) select (select count(*) from gone) + (select count(*) from came) into v_changed;
    with counted as materialized (
        select x.x as id, c.origin_id, c.messages
        from howdah._exception_destinations() x(x) cross join lateral howdah._count_by_origin(x.x, null) c
        where c.origin_id is not null
    ), gone as (
        delete from howdah.dead_figures f
        where not exists (select from counted c where c.id = f.destination_id and c.origin_id = f.origin_id)
    )
    insert into howdah.dead_figures as f (destination_id, origin_id, dead) select c.id, c.origin_id, c.messages
    from counted c
    on conflict on constraint pk_dead_figures do update set dead = excluded.dead where f.dead <> excluded.dead;
    insert into howdah.backlog_counts as k (id, counted_at, boot) values (1, v_now, pg_postmaster_start_time())
    on conflict on constraint pk_backlog_counts do update set counted_at = excluded.counted_at, boot = excluded.boot;
    return v_changed;
end
$$;
