-- pgmq.update_notify_insert(queue_name, throttle_interval_ms): change how often sends notify at most.
--
-- Raises   P0001 a negative interval, no such queue, or one whose sends do not notify; HD010 not allowed.
-- Role     howdah_admin
create or replace function pgmq.update_notify_insert(queue_name text, throttle_interval_ms integer) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if throttle_interval_ms < 0 then
        raise exception 'throttle_interval_ms must be non-negative, got: %', throttle_interval_ms;
    elsif not exists (select from pgmq.meta m where m.queue_name = update_notify_insert.queue_name) then
        raise exception 'Queue "%" does not exist. Create the queue first using pgmq.create()', queue_name;
    elsif not exists (select from pgmq.notify_insert_throttle t
                      where t.queue_name = update_notify_insert.queue_name) then
        raise exception using message = format('Queue "%s" does not have notify_insert enabled.'
            ' Enable it first using pgmq.enable_notify_insert()', queue_name);
    end if;
    perform pgmq._refuse(queue_name, 'admin');
    update pgmq.notify_insert_throttle t
    set throttle_interval_ms = update_notify_insert.throttle_interval_ms, last_notified_at = to_timestamp(0)
    where t.queue_name = update_notify_insert.queue_name;
end
$$;
