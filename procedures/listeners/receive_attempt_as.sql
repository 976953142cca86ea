-- howdah.receive_attempt_as(listener, attempt_id): take the message of an attempt as howdah.receive_attempt does, but
-- not if the listener is stopped or busy.
--
-- Returns  the message as howdah.receive. No row if it is gone or in somebody else's hands, if the listener is stopped,
--          or if all its sessions are at work. The attempt then does not count.
-- Raises   HD001 no such queue; HD005, HD009, HD016, HD022, HD049 as howdah.receive_attempt; HD010 not allowed; HD020
--          no such listener; HD040 the engine is paused, quiesced or stopped; HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- The transaction uses one of the listener's max_sessions from here to its end. Call howdah.handled_as before COMMIT.
-- After a ROLLBACK, call howdah.record_failures_as with the attempt as failure_key.
create or replace function howdah.receive_attempt_as(listener text, attempt_id uuid) returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener howdah.listeners := howdah._listener(listener, 'receive');
begin
    if v_listener.status = 'running' and howdah._listener_session(v_listener.id,
        v_listener.max_sessions) is not null then
        return query select r.* from howdah.receive_attempt(howdah._destination_name(v_listener.destination_id),
            attempt_id) r;
    else
        perform howdah._check_untaken(a.queue, a.attempt_id, a.message_id) from (
            select howdah._destination_name(v_listener.destination_id) as queue, b.attempt_id, b.message_id
            from howdah.attempts b where b.attempt_id = receive_attempt_as.attempt_id
            and b.destination_id = v_listener.destination_id) a;
        perform howdah.cancel_attempt(howdah._destination_name(v_listener.destination_id), attempt_id);
    end if;
end
$$;
