-- pgmq._notify(p_queue): notify the listeners of a queue of an insert, unless they were notified just before.
--
-- Returns  true, so that it can stand in a WHERE clause.
-- Role     internal
--
-- A row that another session is updating is passed over: that session notifies.
create or replace function pgmq._notify(p_queue text) returns boolean
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
begin
    update pgmq.notify_insert_throttle t set last_notified_at = v_now
    where t.ctid = (
        select o.ctid from pgmq.notify_insert_throttle o
        where o.queue_name = p_queue
          and (o.throttle_interval_ms = 0
               or o.last_notified_at + o.throttle_interval_ms * interval '1 millisecond' <= v_now)
        for update skip locked);
    if found then
        perform pg_notify('pgmq.q_' || p_queue || '.INSERT', null);
    end if;
    return true;
end
$$;
