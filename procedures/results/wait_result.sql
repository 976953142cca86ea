-- howdah.wait_result(queue, message_id, since): ask for a NOTIFY when a message's result is kept.
--
-- Returns  channel and payload of the notification; since and unsettled as for howdah.wait.
-- Raises   HD001 no such queue; HD005 message_id is null; HD010 the caller may neither send to the queue nor browse it.
-- Role     howdah_producer howdah_browser howdah_admin
--
-- LISTEN to the channel "howdah" in a session of its own. Call this and commit; then look by howdah.result. Only then
-- sleep until the notification, for at most 250 ms: failures and expiry come without one. Repeat this call at least
-- every 30 seconds. A call that finds its request still in force writes nothing.
create or replace function howdah.wait_result(
    queue text, message_id bigint, inout since bigint default null, out channel text, out payload text,
    out unsettled boolean
) returns record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue howdah.destinations := howdah._result_queue(queue);
    v_now constant timestamptz := howdah.now();
    v_snapshot pg_snapshot;
    v_next bigint;
begin
    if wait_result.message_id is null then
        raise exception using errcode = 'HD005', message = 'message_id must not be NULL';
    end if;
    if not exists (select from howdah.result_waiters w
                   where w.destination_id = v_queue.id and w.message_id = wait_result.message_id
                     and w.until > v_now + interval '30 seconds') then
        insert into howdah.result_waiters as w (destination_id, message_id, until)
        values (v_queue.id, wait_result.message_id, v_now + interval '1 minute')
        on conflict on constraint pk_result_waiters do update set until = excluded.until;
    end if;
    -- As in howdah.wait: transactions that already have an id may have kept their result without seeing the request.
    v_snapshot := pg_current_snapshot();
    v_next := pg_snapshot_xmax(v_snapshot)::text::bigint + greatest(age(pg_snapshot_xmax(v_snapshot)::xid), 0);
    since := coalesce(since, v_next);
    channel := 'howdah';
    payload := format('result:%s:%s', v_queue.id, wait_result.message_id);
    unsettled := pg_snapshot_xmin(v_snapshot)::text::bigint < since;
end
$$;
