-- pgmq.metrics_all(): count the messages of all queues that the caller may browse.
--
-- Returns  pgmq.metrics_result of each.
-- Role     everybody
create or replace function pgmq.metrics_all() returns setof pgmq.metrics_result
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return query
    select r.* from pgmq.meta m
        join howdah.destinations d on d.name = lower(m.queue_name) and d.dropped_at is null and d.kind = 'queue'
        cross join lateral pgmq.metrics(m.queue_name) r
    where howdah._has_right(d.id, 'browse');
end
$$;
