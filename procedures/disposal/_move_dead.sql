-- howdah._move_dead(p_destination, p_message, p_nonpersistent, p_reason): move a message to the exception destination.
--
-- Returns  moved; blocked if it can only stay in its own queue; discarded if the option exception_discard_reliability
--          says so, and then nothing was done.
-- Role     internal
--
-- If the policy's destination is missing, full or not permitted, the fallback takes the message, and the reason says
-- so. WebSphere's system exception destination and IBM MQ's dead-letter queue work like this. A message there no longer
-- expires.
--
-- ActiveMQ's dead-letter queues keep a non-persistent message as a persistent one, and its headers say what it was.
create or replace function howdah._move_dead(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean, p_reason text
) returns text
language plpgsql volatile
as $$
declare
    v_target howdah.destinations;
    v_fault text;
    v_name text;
    v_activemq constant boolean := p_destination.exception_mode in ('shared', 'individual');
begin
    if coalesce(p_message.reliability, case when p_nonpersistent then 1 else 4 end) < (case
        p_destination.exception_discard_reliability
        when 'BEST_EFFORT_NONPERSISTENT' then 1 when 'EXPRESS_NONPERSISTENT' then 2 when 'RELIABLE_NONPERSISTENT' then 3
        when 'RELIABLE_PERSISTENT' then 4 when 'ASSURED_PERSISTENT' then 5 end)
    then
        return 'discarded';
    end if;
    foreach v_name in array array[
        howdah._exception_name(p_destination),
        case p_destination.exception_fallback
            when 'dead_letter' then 'SYSTEM.DEAD.LETTER.QUEUE'
            else (select '_SYSTEM.Exception.Destination.' || e.name from howdah.engine e) end,
        (select '_SYSTEM.Exception.Destination.' || e.name from howdah.engine e)
    ] loop
        select d.* into v_target from howdah.destinations d
        where d.name = v_name and d.dropped_at is null and d.kind = 'queue';
        exit when v_target.id = p_destination.id;
        p_reason := p_reason || coalesce('; ' || v_fault, '');
        v_fault := howdah._fault_of(p_destination, v_target, v_name, p_message);
        exit when v_fault is null;
    end loop;
    if v_fault is not null or v_target.id is null or v_target.id = p_destination.id then
        return 'blocked';
    end if;
    if v_activemq then
        p_message.headers := coalesce(p_message.headers, '{}') || jsonb_strip_nulls(jsonb_build_object(
            'originalExpiration', (extract(epoch from p_message.expires_at) * 1000)::bigint,
            'originalDeliveryMode', case when p_nonpersistent then 'NON_PERSISTENT' end, 'dlqDeliveryFailureCause',
            p_reason));
    end if;
    p_message.origin_id := coalesce(p_message.origin_id, p_destination.id);
    p_message.destination_id := v_target.id;
    perform pg_current_xact_id();  -- before a position is drawn: howdah._set_mark
    p_message.seq := nextval(v_target.positions);
    p_message.stage := least(p_message.stage + 1, 32767);
    p_message.expires_at := null;
    p_message.dead_at := howdah.now();
    p_message.dead_reason := p_reason;
    delete from howdah.quarantines q where q.message_id = p_message.message_id and q.destination_id = p_destination.id;
    if v_activemq and v_target.persistent and p_nonpersistent then
        p_message.reliability := null;
    end if;
    perform howdah._put(p_message, p_nonpersistent and not (v_activemq and v_target.persistent), false);
    perform howdah._journal(p_destination, 'moved', array[p_message.message_id], p_nonpersistent, v_target.id,
        p_reason);
    return 'moved';
end
$$;
