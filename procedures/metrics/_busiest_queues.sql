-- howdah._busiest_queues(p_most): the queues that the caller may browse and that gained most at the last counts.
--
-- Returns  their ids (integer[]), at most p_most. Those after the busy ones go by what lies in them, and by their
--          totals.
-- Role     internal
create or replace function howdah._busiest_queues(p_most integer) returns integer[]
language sql stable
as $$
    select array(
        select d.id
        from howdah._seen_queues() v(id) join howdah.destinations d on d.id = v.id
        left join howdah.metric_totals t on t.destination_id = d.id and t.metric = 'enqueued' and t.label = ''
        left join howdah.backlog_figures f on f.destination_id = d.id
        order by case when t.changed_at > howdah.now() - interval '10 minutes' then t.gained else 0 end desc,
            coalesce(f.live + f.parked, 0) desc, coalesce(t.total, 0) desc, d.name
        limit p_most)
$$;
