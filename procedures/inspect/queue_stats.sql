-- howdah.queue_stats(queue): count what is in a queue, or in every queue, and what has become of its messages.
--
-- Returns  one row per queue. live: ready messages, including those in the hands of open transactions. in_hand: of
--          these, messages in the hands of registered workers at their last heartbeat; messages in an open SQL
--          transaction cannot be seen. parked: waiting for a time, or due and not yet received. dead: moved from it to
--          an exception destination and still there. enqueued: all that came in. dequeued: all that went out, each in
--          one of the columns after it. expired: those without an exception destination; process_expired moves expired
--          messages there, and they count as moved_out, with the reason in the journal. consumers: live workers.
--          oldest_age: the age of the oldest live message, or the time since the first parked one was due, if that is
--          longer. exact: false if a figure was counted in the background or estimated, as below. figures_age: the age
--          of the oldest such figure; an estimate is of now. audited_at and audit_verdict: the last audit of it and its
--          verdict; NULL: none.
-- Raises   HD001 no such queue; HD010 not allowed; HD037 on a standby.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
--
-- Figures are exact unless there is too much to count. A queue of over 10,000 live or 10,000 parked messages shows the
-- last background count. If it was short then, or nobody counted in the last two minutes, it shows an estimate from a
-- sample. oldest_age is then the age of the first message of its priority.
--
-- Where there are more than 1,000 queues, a call for all of them shows background counts. So does dead, if exception
-- destinations hold over 10,000 messages or number over 100. What became of messages is as last added up if that was at
-- most two minutes ago, and over 20,000 transactions have come since.
--
-- Sequential scans are off, because fresh statistics cannot be relied on where rows come and go by the million.
-- enqueued is derived from the messages present and the journal. At journal_level off, it is not known what has left.
create or replace function howdah.queue_stats(queue text default null) returns table (
    queue_name text, live bigint, in_hand bigint, parked bigint, dead bigint, enqueued bigint, dequeued bigint,
    consumed bigint, expired bigint, discarded bigint, moved_out bigint, moved_in bigint, lost bigint,
    consumers integer, oldest_age interval, exact boolean, figures_age interval, audited_at timestamptz,
    audit_verdict text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_id integer;
    v_kept boolean := howdah._totals_will_do();
    v_kept_at timestamptz := (select e.totals_at from howdah.engine e);
    v_counted_at timestamptz;
begin
    perform howdah._check_all_here();
    if queue is not null then
        v_id := (howdah._queue(queue, 'browse')).id;
    elsif howdah._many_queues() then
        v_counted_at := howdah._figures_at();
    end if;
    return query
    with destination as (
        select d.id, d.name from howdah.destinations d
        where d.dropped_at is null and (v_id is null and d.kind = 'queue' and not d.name ^@ '_TEMP.' or d.id = v_id)
          and (d.id = v_id or v_id is null and d.id in (select v.id from howdah._seen_queues() v(id)))
    ), total as (
        select t.destination_id,
            coalesce(sum(t.messages) filter (where t.event = 'consumed'), 0)::bigint as consumed,
            coalesce(sum(t.messages) filter (where t.event = 'expired'), 0)::bigint as expired,
            coalesce(sum(t.messages) filter (where t.event = 'discarded'), 0)::bigint as discarded,
            coalesce(sum(t.messages) filter (where t.event in ('moved', 'replayed')), 0)::bigint as moved_out,
            coalesce(sum(t.messages) filter (where t.event in ('moved_in', 'replayed_in')), 0)::bigint as moved_in,
            coalesce(sum(t.messages) filter (where t.event = 'lost'), 0)::bigint as lost
        from howdah._journal_totals(v_id, not v_kept) t group by t.destination_id
    ), dead as materialized (
        select x.origin_id, x.dead, x.as_of from howdah._dead_by_destination() x
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
        v_now - b.oldest_sent_at, b.exact and not v_kept and y.as_of is null,
        greatest(v_now - least(case when not b.exact then coalesce(b.counted_at, v_now) end, y.as_of,
            case when v_kept then v_kept_at end), interval '0'),
        a.audited_at, a.verdict
    from destination d
    left join howdah.backlog_figures f on f.destination_id = d.id and v_counted_at is not null
    cross join lateral (
        select coalesce(f.live, 0) as live, coalesce(f.parked, 0) as parked, f.oldest_sent_at, false as exact,
        v_counted_at as counted_at
        where v_counted_at is not null
        union all
        select l.live, l.parked, l.oldest_sent_at, l.exact, l.counted_at from howdah._backlog(d.id) l
        where v_counted_at is null
    ) b
    left join dead x on x.origin_id = d.id
    cross join (select min(m.as_of) as as_of from dead m) y
    left join total t on t.destination_id = d.id
    left join howdah.audit_verdicts a on a.destination_id = d.id
    left join hand h on h.queue_name = d.name
    left join registered r on r.queue_name = d.name
    order by d.name;
end
$$;
