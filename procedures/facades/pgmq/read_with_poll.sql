-- pgmq.read_with_poll(queue_name, vt, qty, …): as pgmq.read, and wait for the first message.
--
-- Returns  as pgmq.read.
-- Raises   as pgmq.read.
-- Role     howdah_consumer howdah_admin
--
-- It looks every poll_interval_ms, for at most max_poll_seconds. The session is occupied meanwhile.
create or replace function pgmq.read_with_poll(
    queue_name text, vt integer, qty integer, max_poll_seconds integer default 5, poll_interval_ms integer default 100,
    conditional jsonb default '{}'
) returns setof pgmq.message_record
language plpgsql volatile
as $$
declare
    v_end timestamptz := clock_timestamp() + make_interval(secs => max_poll_seconds);
begin
    perform pgmq.format_table_name(queue_name, 'q');
    while clock_timestamp() < v_end loop
        return query select * from pgmq.read(queue_name, vt, qty, conditional);
        exit when found;
        perform pg_sleep(poll_interval_ms::numeric / 1000);
    end loop;
end
$$;
