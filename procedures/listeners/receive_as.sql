-- howdah.receive_as(listener, max_messages, consumer): take messages as howdah.receive does, but none if the listener
-- is stopped or busy.
--
-- Returns  up to max_messages rows of howdah.message; no row while the listener is stopped or all its sessions are at
--          work.
-- Raises   HD001 no such queue; HD005 max_messages is not 1 to 10000; HD009 receiving is paused; HD010 not allowed;
--          HD016 failures in a row disabled the queue; HD019 the queue is hardened; HD020 no such listener; HD003,
--          HD023, HD024, HD025, HD032 as howdah.receive; HD040 the engine is paused, quiesced or stopped; HD002, HD004,
--          HD027 the missing queue cannot create itself (docs/auto-creation.md); HD045 the master of changes is away;
--          HD049 the transformation cannot be called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- The transaction uses one of the listener's max_sessions from here to its end, even if there was no message. COMMIT
-- consumes the messages; call howdah.handled_as just before it. After a ROLLBACK, or before it on another connection,
-- call howdah.record_failures_as. A listener that stops meanwhile does not disturb this transaction.
create or replace function howdah.receive_as(
    listener text, max_messages integer default 1, consumer bigint default null
)
returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener record;
    v_session integer;
begin
    select l.id, l.status, l.max_sessions, howdah._destination_name(l.destination_id) as queue into v_listener
    from howdah.listeners l where l.name = listener;
    if found and v_listener.status = 'running' then
        v_session := howdah._listener_session(v_listener.id, v_listener.max_sessions);
    end if;
    if v_session is null then
        perform howdah._listener(listener, 'receive');
    else
        return query select r.* from howdah.receive(v_listener.queue, max_messages, consumer => receive_as.consumer) r;
    end if;
end
$$;
