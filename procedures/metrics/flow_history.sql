-- howdah.flow_history(queue, span): what went in and out of a queue, or of all, in the last hour, day or week.
--
-- Returns  one row per minute of an hour, quarter of the hour of a day, or two hours of a week, in order. enqueued,
--          dequeued and failed: messages since the point before, seconds ago. live and oldest_age: as maintenance
--          counted them last at that moment; of all queues, without the dead. A point without maintenance is left out;
--          the next one has its messages.
-- Raises   HD001 no such queue; HD005 span is not hour, day or week; HD010 not allowed to browse the queue or, without
--          a queue, to see all of them.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
--
-- It reads the samples that maintain_totals keeps, and counts no messages. A temporary queue has none.
create or replace function howdah.flow_history(queue text default null, span text default 'hour') returns table (
    at timestamptz, seconds double precision, enqueued bigint, dequeued bigint, failed bigint, live bigint,
    oldest_age interval
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_id integer := 0;
    v_step smallint := case span when 'hour' then 1 when 'day' then 15 when 'week' then 15 end;
    v_width interval := case span when 'hour' then interval '1 minute' when 'day' then interval '15 minutes'
        else interval '2 hours' end;
    v_since timestamptz := v_now - case span when 'hour' then interval '1 hour' when 'day' then interval '1 day'
        else interval '7 days' end;
begin
    if v_step is null then
        raise exception using errcode = 'HD005',
            message = format('span must be hour, day or week, not %s', coalesce(quote_literal(span), 'NULL'));
    end if;
    if queue is not null then
        v_id := (howdah._queue(queue, 'browse')).id;
    elsif exists (select from howdah.destinations d
        where d.kind = 'queue' and d.dropped_at is null and not d.name ^@ '_TEMP.'
          and d.id not in (select v.id from howdah._seen_queues() v(id))) then
        raise exception using errcode = 'HD010',
            message = format('role %s does not see all queues', quote_literal(howdah._caller())),
            hint = 'Name a queue that you may browse.';
    end if;
    return query
    with point as (
        select max(s.at) as at from howdah.flow_samples s
        where s.destination_id = 0 and s.step = v_step and s.at > v_since - v_width and s.at <= v_now
        group by date_bin(v_width, s.at, 'epoch')
    ), level as (
        select p.at, coalesce(o.enqueued, 0) as enqueued, coalesce(o.dequeued, 0) as dequeued,
            coalesce(o.failed, 0) as failed, coalesce(o.live, 0) as live, o.oldest_sent_at
        from point p
        left join lateral (
            select s.* from howdah.flow_samples s
            where s.destination_id = v_id and s.step = v_step and s.at <= p.at order by s.at desc limit 1
        ) o on true
    ), change as (
        select l.*, l.at - lag(l.at) over w as passed, l.enqueued - lag(l.enqueued) over w as came,
            l.dequeued - lag(l.dequeued) over w as went, l.failed - lag(l.failed) over w as fell
        from level l window w as (order by l.at)
    )
    select c.at, extract(epoch from c.passed)::double precision, greatest(c.came, 0), greatest(c.went, 0),
        greatest(c.fell, 0), c.live, c.at - c.oldest_sent_at
    from change c where c.passed is not null order by c.at;
end
$$;
