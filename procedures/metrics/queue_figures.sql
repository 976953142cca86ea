-- howdah.queue_figures(queues, busiest): kept figures of the busiest queues and of named ones, for whoever looks often.
--
-- Returns  a first row without queue_name: all queues that the caller sees together. queue_count is their number, and
--          sees_all says whether there are no others. Its live and oldest_age are without the dead in exception
--          destinations. Then one row per queue, the busiest first. Names that the caller does not see, or that no
--          queue has, are left out. The figures are those of howdah.queue_stats: the dead can be received in an
--          exception destination, so they are live in its row. counted_at: when maintain_backlog last counted; NULL:
--          never, and then what it counts is NULL. failed: failed deliveries, as howdah.metrics adds them up. asked_at:
--          now.
-- Raises   HD005 busiest is not 0 to 1000, or there are more than 1000 names; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
--
-- It never counts messages, however old the kept figures are: the caller sees how old. in_hand and consumers are of
-- now.
create or replace function howdah.queue_figures(queues text[] default '{}', busiest integer default 100) returns table (
    queue_name text, live bigint, in_hand bigint, parked bigint, dead bigint, enqueued bigint, dequeued bigint,
    failed bigint, consumers integer, oldest_age interval, counted_at timestamptz, asked_at timestamptz,
    queue_count bigint, sees_all boolean
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_number constant bigint := (select count(*) from howdah.destinations d
        where d.kind = 'queue' and d.dropped_at is null and not d.name ^@ '_TEMP.');
    v_counted timestamptz := (select c.counted_at from howdah.backlog_counts c);
    v_ids integer[];
begin
    perform howdah._refuse_maintenance();
    if busiest is null or busiest not between 0 and 1000 or cardinality(queues) > 1000 then
        raise exception using errcode = 'HD005',
            message = format('busiest must be 0 to 1000 and queues at most 1000 names, not %s and %s',
                coalesce(busiest::text, 'NULL'), cardinality(queues));
    end if;
    v_ids := case when busiest > 0 then howdah._busiest_queues(busiest) else '{}' end;
    return query
    with seen as materialized (
        select d.id, d.name from howdah._seen_queues() v(id) join howdah.destinations d on d.id = v.id
    ), gone as (
        select t.destination_id as id, sum(t.messages)::bigint as messages from howdah.journal_totals t
        where t.event in ('consumed', 'expired', 'discarded', 'moved', 'replayed', 'lost') group by t.destination_id
    ), died as (
        select f.origin_id as id, sum(f.dead)::bigint as dead from howdah.dead_figures f group by f.origin_id
    ), failure as (
        select t.destination_id as id, sum(t.total)::bigint as failed from howdah.metric_totals t
        where t.metric = 'failures' group by t.destination_id
    ), hand as (
        select h.key as name, sum(h.value::numeric)::bigint as in_hand
        from howdah.workers w, jsonb_each_text(w.in_hand) h
        where w.heartbeat_at > v_now - interval '1 minute' group by h.key
    ), registered as (
        select q.name, count(*)::integer as consumers from howdah.workers w, unnest(w.queues) q(name)
        where w.heartbeat_at > v_now - interval '1 minute' group by q.name
    ), figure as materialized (
        select s.id, s.name, f.live, coalesce(h.in_hand, 0) as in_hand, f.parked, x.dead, f.oldest_sent_at,
            f.waiting, f.waiting_sent_at, coalesce(g.messages, 0) as dequeued,
            coalesce(y.failed, 0) as failed, coalesce(r.consumers, 0) as consumers
        from seen s
        left join howdah.backlog_figures f on f.destination_id = s.id
        left join gone g on g.id = s.id
        left join died x on x.id = s.id
        left join failure y on y.id = s.id
        left join hand h on h.name = s.name
        left join registered r on r.name = s.name
    ), shown as (
        select null::text as name, sum(f.live) as lying, sum(f.waiting) as live,
            sum(f.in_hand)::bigint as in_hand, sum(f.parked) as parked, sum(f.dead) as dead,
            min(f.waiting_sent_at) as oldest_sent_at, sum(f.dequeued)::bigint as dequeued,
            sum(f.failed)::bigint as failed,
            (select count(*) from howdah.workers w where w.heartbeat_at > v_now - interval '1 minute')::integer
            as consumers, count(*) as number,
            count(*) = v_number as sees_all, 0 as place
        from figure f
        union all
        select f.name, f.live, f.live, f.in_hand, f.parked, f.dead, f.oldest_sent_at, f.dequeued, f.failed, f.consumers,
            null, null, coalesce(array_position(v_ids, f.id), busiest + 1)
        from figure f where f.id = any (v_ids) or f.name = any (queues)
    )
    select s.name, n.live, s.in_hand, n.parked, n.dead, n.lying + n.parked + s.dequeued, s.dequeued,
        s.failed, s.consumers,
        v_now - s.oldest_sent_at, v_counted, v_now, s.number, s.sees_all
    from shown s
    cross join lateral (select coalesce(s.live, 0)::bigint as live, coalesce(s.lying, 0)::bigint as lying,
        coalesce(s.parked, 0)::bigint as parked, coalesce(s.dead, 0)::bigint as dead where v_counted is not null
        union all select null, null, null, null where v_counted is null) n
    order by s.place, s.name;
end
$$;
