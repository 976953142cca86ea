-- pgmq.list_notify_insert_throttles(): list the queues whose sends notify.
--
-- Returns  of each its name, the interval and when its listeners were last notified.
-- Role     everybody
create or replace function pgmq.list_notify_insert_throttles()
returns table (queue_name text, throttle_interval_ms integer, last_notified_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return query
    select t.queue_name::text, t.throttle_interval_ms, t.last_notified_at from pgmq.notify_insert_throttle t order by 1;
end
$$;
