-- howdah.begin_attempts_as(listener, max_messages, attempt_id): record attempts as howdah.begin_attempts does, but none
-- if the listener is stopped or busy.
--
-- Returns  attempt id, message_id, priority and position of up to max_messages messages. No row while the listener is
--          stopped or all its sessions are at work.
-- Raises   HD001 no such queue; HD010 not allowed; HD020 no such listener; HD003, HD005, HD009, HD016, HD019, HD023,
--          HD024, HD025, HD032 as howdah.begin_attempts; HD040 the engine is paused, quiesced or stopped; HD002, HD004,
--          HD027 the missing queue cannot create itself (docs/auto-creation.md); HD045 the master of changes is away;
--          HD049 the transformation cannot be called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- It is for listeners of hardened queues. COMMIT this call, then take each message with howdah.receive_attempt_as.
create or replace function howdah.begin_attempts_as(
    listener text, max_messages integer default 1, attempt_id uuid default null
)
returns table (attempt uuid, message_id bigint, priority integer, "position" bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener howdah.listeners := howdah._listener(listener, 'receive');
begin
    if v_listener.status = 'running' and howdah._listener_session(v_listener.id,
        v_listener.max_sessions) is not null then
        return query select b.* from howdah.begin_attempts(howdah._destination_name(v_listener.destination_id),
            max_messages, attempt_id) b;
    end if;
end
$$;
