-- pgmq.enable_notify_insert(queue_name, throttle_interval_ms): have sends through the facade notify
-- pgmq.q_<queue>.INSERT.
--
-- Raises   22004 the name is NULL; 23503 it is not written as in pgmq.meta; P0001 a negative interval, or no such
--          queue; HD010 not allowed.
-- Role     howdah_admin
--
-- At most one notice is sent in throttle_interval_ms; 0: one a transaction that sends.
create or replace function pgmq.enable_notify_insert(queue_name text, throttle_interval_ms integer default 250)
returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if throttle_interval_ms < 0 then
        raise exception 'throttle_interval_ms must be non-negative';
    elsif to_regclass(format('pgmq.%I', pgmq.format_table_name(queue_name, 'q'))) is null then
        raise exception 'Queue "%" does not exist. Create it first using pgmq.create()', queue_name;
    end if;
    perform pgmq._refuse(queue_name, 'admin');
    perform nextval('pgmq.notifying'::regclass);
    insert into pgmq.notify_insert_throttle as t (queue_name, throttle_interval_ms)
    values (enable_notify_insert.queue_name, enable_notify_insert.throttle_interval_ms)
    on conflict on constraint notify_insert_throttle_queue_name_key
        do update set throttle_interval_ms = excluded.throttle_interval_ms, last_notified_at = to_timestamp(0);
end
$$;
