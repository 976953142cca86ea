-- pgmq._notify(p_queue): notify the listeners of a queue of an insert, unless they were notified just before.
--
-- Returns  true, so that it can stand in a WHERE clause.
-- Role     internal
--
-- Nobody waits for a row that another session is updating. That session may commit before this one, or roll back: so
-- both notify.
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
    if found or exists (
        select from pgmq.notify_insert_throttle o
        where o.queue_name = p_queue
          and (o.throttle_interval_ms = 0
               or o.last_notified_at + o.throttle_interval_ms * interval '1 millisecond' <= v_now)) then
        perform pg_notify('pgmq.q_' || p_queue || '.INSERT', null);
    end if;
    return true;
end
$$;
