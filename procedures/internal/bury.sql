-- howdah._bury(p_destination, p_message, p_nonpersistent, p_reason): dispose of a message that reached its limit.
--
-- Returns  what was done: moved (to the exception destination) or blocked (it stays and waits for its retry).
-- Role     internal
--
-- The caller has deleted the row. A named exception destination that is missing falls back to the system one, as
-- WebSphere's default provider does. On an exception destination a message no longer expires. It wakes nobody: a NOTIFY
-- would keep a receive that buries from being prepared, each time anew.
create or replace function howdah._bury(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean, p_reason text
) returns text
language plpgsql volatile
as $$
declare
    v_target howdah.destinations;
begin
    if p_destination.exception_mode = 'named' then
        select d.* into v_target from howdah.destinations d
        where d.name = p_destination.exception_queue and d.dropped_at is null and d.kind = 'queue';
    end if;
    if p_destination.exception_mode = 'system' or (p_destination.exception_mode = 'named' and v_target.id is null) then
        select d.* into strict v_target from howdah.destinations d join howdah.engine e
            on d.name = '_SYSTEM.Exception.Destination.' || e.name
        where d.dropped_at is null;
    end if;
    if v_target.id is null or v_target.id = p_destination.id then
        perform howdah._park(p_message, p_nonpersistent,
            howdah.now() + p_destination.blocked_retry_ms * interval '1 millisecond', 'blocked');
        return 'blocked';
    end if;
    p_message.origin_id := coalesce(p_message.origin_id, p_destination.id);
    p_message.destination_id := v_target.id;
    p_message.seq := nextval(v_target.positions);
    p_message.stage := p_message.stage + 1;
    p_message.expires_at := null;
    p_message.dead_at := howdah.now();
    p_message.dead_reason := p_reason;
    perform howdah._put(p_message, p_nonpersistent, false);
    perform howdah._journal(p_destination, 'moved', array[p_message.message_id], p_nonpersistent, v_target.id, p_reason);
    return 'moved';
end
$$;
