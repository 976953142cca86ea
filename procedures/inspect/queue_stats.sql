-- howdah.queue_stats(queue): what lies in a queue, or in every queue, and what became of its messages so far.
--
-- Returns  one row a queue. live: ready for delivery, those in an open transaction's hands included; in_hand: of these in
--          a registered worker's hands at its last heartbeat (what an open SQL transaction has received cannot be seen);
--          parked: waiting for a time; dead: moved from it to an exception destination and still there; enqueued: all
--          that came in; dequeued: all that went out; consumers: live workers; oldest_age: of the oldest live message.
--          exact is false where a queue of over 100,000 messages is shown as counted in the background, figures_age ago.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
--
-- enqueued is derived from the messages present and the journal; at journal_level off what has left is not known.
create or replace function howdah.queue_stats(queue text default null) returns table (
    queue_name text, live bigint, in_hand bigint, parked bigint, dead bigint, enqueued bigint, dequeued bigint,
    consumed bigint, expired bigint, discarded bigint, moved_out bigint, moved_in bigint, lost bigint, consumers integer,
    oldest_age interval, exact boolean, figures_age interval
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_now timestamptz := howdah.now();
begin
    if queue is not null then
        perform howdah._destination(queue, 'browse');
    end if;
    return query
    with destination as (
        select d.id, d.name from howdah.destinations d
        where d.dropped_at is null and d.kind = 'queue' and (queue is null or d.name = queue)
    ), total as (
        select t.destination_id,
            coalesce(sum(t.messages) filter (where t.event = 'consumed'), 0)::bigint as consumed,
            coalesce(sum(t.messages) filter (where t.event = 'expired'), 0)::bigint as expired,
            coalesce(sum(t.messages) filter (where t.event = 'discarded'), 0)::bigint as discarded,
            coalesce(sum(t.messages) filter (where t.event in ('moved', 'replayed')), 0)::bigint as moved_out,
            coalesce(sum(t.messages) filter (where t.event in ('moved_in', 'replayed_in')), 0)::bigint as moved_in,
            coalesce(sum(t.messages) filter (where t.event = 'lost'), 0)::bigint as lost
        from howdah._journal_totals() t group by t.destination_id
    ), hand as (
        select h.key as queue_name, sum(h.value::numeric)::bigint as in_hand
        from howdah.workers w, jsonb_each_text(w.in_hand) h
        where w.heartbeat_at > v_now - interval '1 minute' group by h.key
    ), registered as (
        select q.name as queue_name, count(*)::integer as consumers
        from howdah.workers w, unnest(w.queues) q(name)
        where w.heartbeat_at > v_now - interval '1 minute' group by q.name
    )
    select d.name, b.live, coalesce(h.in_hand, 0), b.parked, coalesce(x.dead, 0),
        b.live + b.parked + coalesce(t.consumed + t.expired + t.discarded + t.moved_out + t.lost, 0),
        coalesce(t.consumed + t.expired + t.discarded + t.moved_out + t.lost, 0),
        coalesce(t.consumed, 0), coalesce(t.expired, 0), coalesce(t.discarded, 0), coalesce(t.moved_out, 0),
        coalesce(t.moved_in, 0), coalesce(t.lost, 0), coalesce(r.consumers, 0),
        v_now - b.oldest_sent_at, b.exact, case when b.exact then interval '0' else v_now - b.counted_at end
    from destination d
    cross join lateral howdah._backlog(d.id) b
    left join howdah._dead() x on x.origin_id = d.id
    left join total t on t.destination_id = d.id
    left join hand h on h.queue_name = d.name
    left join registered r on r.queue_name = d.name
    order by d.name;
end
$$;

-- howdah._backlog(p_destination_id): the messages lying in a destination: counted, or if there are many, as last counted.
--
-- Returns  live, parked, when the oldest live one was sent, whether the numbers are exact, and when they were counted.
-- Role     internal
create or replace function howdah._backlog(p_destination_id integer)
returns table (live bigint, parked bigint, oldest_sent_at timestamptz, exact boolean, counted_at timestamptz)
language plpgsql stable
as $$
declare
    v_limit constant integer := 100001;
begin
    select f.live, f.parked, f.oldest_sent_at, false, f.counted_at into live, parked, oldest_sent_at, exact, counted_at
    from howdah.backlog_figures f where f.destination_id = p_destination_id;
    if not found then
        select count(*), min(m.sent_at) into live, oldest_sent_at
        from (select c.sent_at from howdah.msgs c where c.destination_id = p_destination_id limit v_limit) m;
        select live + count(*), least(oldest_sent_at, min(n.sent_at)) into live, oldest_sent_at
        from (select c.sent_at from howdah.msgs_nonpersistent c
              where c.destination_id = p_destination_id and c.boot = pg_postmaster_start_time() limit v_limit) n;
        select count(*) into parked
        from (select from howdah.parked c where c.destination_id = p_destination_id
                and (c.boot is null or c.boot = pg_postmaster_start_time()) limit v_limit) p;
        exact := live < v_limit and parked < v_limit;
        counted_at := howdah.now();
    end if;
    return next;
end
$$;

-- howdah._dead(): how many messages of each destination lie in exception destinations.
--
-- Returns  origin_id and their number.
-- Role     internal
create or replace function howdah._dead() returns table (origin_id integer, dead bigint)
language sql stable
as $$
    select g.origin_id, count(*)
    from (
        select m.origin_id from howdah.destinations e join howdah.msgs m on m.destination_id = e.id
        where (e.is_system or e.name in (select d.exception_queue from howdah.destinations d))
          and m.origin_id is not null
        union all
        select n.origin_id from howdah.msgs_nonpersistent n
        where n.origin_id is not null and n.boot = pg_postmaster_start_time()
    ) g
    group by g.origin_id
$$;

-- howdah._journal_since(p_since, p_until): messages by destination and event that the journal gained between two snapshots.
--
-- Returns  as howdah._journal_totals. p_since NULL means from the beginning, p_until NULL up to now.
-- Role     internal
--
-- By snapshots and not by time or number, so that a transaction that commits late is counted, once.
create or replace function howdah._journal_since(p_since pg_snapshot, p_until pg_snapshot)
returns table (destination_id integer, event text, messages bigint)
language sql stable
as $$
    with fresh as (
        select j.destination_id, j.other_destination_id, j.event, cardinality(j.message_ids) as messages
        from howdah.journal j
        where j.xid >= coalesce(pg_snapshot_xmin(p_since)::text::bigint, 0)
          and (p_since is null or not pg_visible_in_snapshot(j.xid::text::xid8, p_since))
          and (p_until is null or pg_visible_in_snapshot(j.xid::text::xid8, p_until))
    )
    select f.destination_id, f.event, sum(f.messages)::bigint from fresh f group by f.destination_id, f.event
    union all
    select f.other_destination_id, f.event || '_in', sum(f.messages)::bigint from fresh f
    where f.other_destination_id is not null group by f.other_destination_id, f.event
$$;

-- howdah._journal_totals(): messages by destination and event: the totals kept and what the journal has beyond them.
--
-- Returns  destination_id, event (with moved_in and replayed_in at the receiving destination) and the number of messages.
-- Role     internal
create or replace function howdah._journal_totals() returns table (destination_id integer, event text, messages bigint)
language sql stable
as $$
    select t.destination_id, t.event, t.messages from howdah.journal_totals t
    union all
    select u.destination_id, u.event, u.messages
    from howdah.engine e cross join lateral howdah._journal_since(e.totals_snapshot, null) u
$$;
