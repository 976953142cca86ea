-- howdah._sample_flow(): keep the totals of this minute, and of this quarter of an hour, for curves of the past.
--
-- Role     internal
--
-- Each sample has a row for all queues, and one for each queue that changed since its last row. These are at most the
-- 500 that moved most. The next row of any other has what is missing here. Samples of minutes stay three hours, those
-- of quarters eight days. The newest one before that stays too, because later ones count from it. Dead messages are
-- live in the sample of the exception destination where they lie, and not in that of all queues.
create or replace function howdah._sample_flow() returns void
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_step smallint;
    v_limit timestamptz;
begin
    foreach v_step in array '{1,15}'::smallint[] loop
        continue when exists (select from howdah.flow_samples s where s.destination_id = 0 and s.step = v_step
            and s.at >= date_bin(v_step * interval '1 minute', v_now, 'epoch'));
        insert into howdah.flow_samples as w (step, at, destination_id, enqueued, dequeued, failed, live,
            oldest_sent_at)
        with figure as materialized (
            select t.id, t.enqueued, t.dequeued, t.failed, coalesce(f.live, 0) as live, f.oldest_sent_at,
                f.waiting, f.waiting_sent_at
            from (
                select m.destination_id as id,
                    coalesce(sum(m.total) filter (where m.metric = 'enqueued'), 0)::bigint as enqueued,
                    coalesce(sum(m.total) filter (where m.metric = 'dequeued'), 0)::bigint as dequeued,
                    coalesce(sum(m.total) filter (where m.metric = 'failures'), 0)::bigint as failed
                from howdah.metric_totals m group by m.destination_id
                having bool_or(m.metric = 'enqueued')  -- only queues have it, and dropped ones keep it
            ) t left join howdah.backlog_figures f on f.destination_id = t.id
        ), moved as (
            select f.* from figure f
            join howdah.destinations d on d.id = f.id and d.dropped_at is null
            left join lateral (
                select s.enqueued, s.dequeued, s.failed, s.live, s.oldest_sent_at from howdah.flow_samples s
                where s.destination_id = f.id and s.step = v_step order by s.at desc limit 1
            ) l on true
            where (f.enqueued, f.dequeued, f.failed, f.live, f.oldest_sent_at) is distinct from (
                coalesce(l.enqueued, 0), coalesce(l.dequeued, 0), coalesce(l.failed, 0), coalesce(l.live, 0),
                l.oldest_sent_at)
            order by f.enqueued + f.dequeued + f.failed - coalesce(l.enqueued + l.dequeued + l.failed, 0) desc, f.id
            limit 500
        )
        select v_step, v_now, 0, coalesce(sum(f.enqueued), 0), coalesce(sum(f.dequeued), 0),
            coalesce(sum(f.failed), 0), coalesce(sum(f.waiting), 0), min(f.waiting_sent_at) from figure f
        union all
        select v_step, v_now, m.id, m.enqueued, m.dequeued, m.failed, m.live, m.oldest_sent_at from moved m;
        continue when v_step = 1;
        foreach v_step in array '{1,15}'::smallint[] loop
            v_limit := v_now - case v_step when 1 then interval '3 hours' else interval '8 days' end;
            delete from howdah.flow_samples s
            where s.step = v_step and s.at < v_limit and (
                exists (select from howdah.flow_samples n where n.destination_id = s.destination_id
                    and n.step = v_step and n.at > s.at and n.at < v_limit)
                or s.destination_id <> 0 and not exists (select from howdah.destinations d
                    where d.id = s.destination_id and d.dropped_at is null));
        end loop;
    end loop;
end
$$;
