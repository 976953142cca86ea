-- howdah.keep_result(queue, message_id, value, notify, stage): keep what a message was handled to, for who sent it.
--
-- Returns  false if the queue keeps no results (option keep_results_ms); nothing is stored then.
-- Raises   HD001 no such queue; HD005 message_id is null, or stage is not 0 to 32767; HD007 the value is larger than
--          the queue's messages may be; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- Call it in the transaction that received the message: its work, its result and its consumption then commit together.
-- A second call for a message replaces its result. value NULL: it was handled, and there is nothing to tell.
--
-- stage: that of the message received; howdah.result then also tells of the failures before. NULL: it tells of none.
--
-- A session that waits by howdah.wait_result is notified at the commit. notify => false sends no NOTIFY, so that the
-- transaction can be prepared (PREPARE TRANSACTION).
create or replace function howdah.keep_result(
    queue text, message_id bigint, value jsonb default null, notify boolean default true,
    stage integer default null
) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue howdah.destinations := howdah._queue(queue, 'receive');
    v_bytes constant integer := octet_length(value::text);
begin
    if keep_result.message_id is null then
        raise exception using errcode = 'HD005', message = 'message_id must not be NULL';
    elsif keep_result.stage not between 0 and 32767 then
        raise exception using errcode = 'HD005',
            message = format('stage must be 0 to 32767, not %s', keep_result.stage);
    elsif v_queue.keep_results_ms is null then
        return false;
    elsif v_bytes > v_queue.max_message_bytes then
        raise exception using errcode = 'HD007',
            message = format('a result of %s bytes exceeds max_message_bytes of queue %s, %s', v_bytes,
                quote_literal(v_queue.name), v_queue.max_message_bytes),
            hint = 'Store it in a table of your own, and return its key.';
    end if;
    insert into howdah.results as r (destination_id, message_id, state, stage, finished_at, until, value)
    values (v_queue.id, keep_result.message_id, 'done', keep_result.stage, howdah.now(),
        howdah.now() + v_queue.keep_results_ms * interval '1 millisecond', keep_result.value)
    on conflict on constraint pk_results do update set state = excluded.state, finished_at = excluded.finished_at,
        until = excluded.until, value = excluded.value, stage = excluded.stage, body = null;
    if notify is not false and exists (select from howdah.result_waiters w
                                       where w.destination_id = v_queue.id and w.message_id = keep_result.message_id
                                         and w.until > howdah.now()) then
        perform pg_notify('howdah', format('result:%s:%s', v_queue.id, keep_result.message_id));
    end if;
    return true;
end
$$;
