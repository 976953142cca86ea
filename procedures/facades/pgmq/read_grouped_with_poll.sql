-- pgmq.read_grouped_with_poll(queue_name, vt, qty, …): as pgmq.read_grouped, and wait for the first message.
--
-- Returns  as pgmq.read_grouped.
-- Raises   as pgmq.read_grouped.
-- Role     howdah_consumer howdah_admin
--
-- It looks every poll_interval_ms, for at most max_poll_seconds. The session is occupied meanwhile.
create or replace function pgmq.read_grouped_with_poll(
    queue_name text, vt integer, qty integer, max_poll_seconds integer default 5, poll_interval_ms integer default 100
) returns setof pgmq.message_record
language plpgsql volatile
as $$
declare
    v_end timestamptz := clock_timestamp() + make_interval(secs => max_poll_seconds);
begin
    while clock_timestamp() < v_end loop
        return query select * from pgmq.read_grouped(queue_name, vt, qty);
        exit when found;
        perform pg_sleep(poll_interval_ms::numeric / 1000);
    end loop;
end
$$;
