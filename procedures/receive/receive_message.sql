-- howdah.receive_message(queue, message_id): take the message with a given id; COMMIT consumes it, ROLLBACK puts it
-- back in its place.
--
-- Returns  the message as howdah.receive; no row if it is not there, not due, expired, or in somebody else's hands.
-- Raises   HD001 no such queue; HD005 queue is a subscription or keeps an order, or a limit of concurrency needs READ
--          COMMITTED; HD009 receiving is paused; HD010 not allowed; HD016 failures in a row disabled the queue; HD019
--          the queue is hardened; HD040 the engine is paused, quiesced or stopped; HD002, HD004, HD027 the missing
--          queue cannot create itself (docs/auto-creation.md); HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- The lookup is by key, wherever in the queue the message lies, and also if it is not there.
create or replace function howdah.receive_message(queue text, message_id bigint) returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue howdah.destinations := howdah._queue_for_look_up(receive_message.queue);
begin
    return query
    select t.* from howdah._look_up(v_queue.id, receive_message.message_id, null) l
    cross join lateral howdah._take_found(v_queue, l.message, l.due_at) t
    limit 1;
end
$$;
