-- howdah.keep_result_once(queue, message_id, value, notify): keep a result, unless another one is kept.
--
-- Returns  true if it is kept now; false if another value is, or the queue keeps no results (option keep_results_ms).
-- Raises   HD001 no such queue; HD005 message_id is null; HD007 the value is larger than the queue's messages may be;
--          HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- If several call it at once, each with its own value, one gets true: the others wait for its transaction. A caller
-- who repeats a call whose answer was lost gets true again.
create or replace function howdah.keep_result_once(
    queue text, message_id bigint, value jsonb, notify boolean default true
) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue howdah.destinations := howdah._queue(queue, 'receive');
begin
    perform pg_advisory_xact_lock(howdah._lock_key('result', v_queue.id || ':' || keep_result_once.message_id));
    return not exists (
        select from howdah.results r
        where r.destination_id = v_queue.id and r.message_id = keep_result_once.message_id
          and r.until > howdah.now() and r.state = 'done'
          and r.value is distinct from keep_result_once.value)
        and howdah.keep_result(queue, keep_result_once.message_id, keep_result_once.value, notify);
end
$$;
