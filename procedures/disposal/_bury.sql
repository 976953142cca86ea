-- howdah._bury(p_destination, p_message, p_nonpersistent, p_reason): dispose of a message by its queue's policy.
--
-- Returns  what was done: moved, blocked (it stays and waits for its retry), discarded, quarantined or ended.
-- Role     internal
--
-- The caller has deleted the row, in the same transaction. It wakes nobody: a NOTIFY would keep a receive that buries from
-- being prepared, each time anew. Copies, replies and reports go before the message itself.
create or replace function howdah._bury(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean, p_reason text
) returns text
language plpgsql volatile
as $$
declare
    v_outcome text;
    v_handled boolean;
begin
    if p_destination.poison_procedure is not null and p_destination.dropped_at is null then
        select r.handled, r.reason into v_handled, p_reason
        from howdah._run_poison_procedure(p_destination, p_message, p_nonpersistent, p_reason) r;
    end if;
    v_outcome := case
        when v_handled then 'discarded'
        -- Each quarantine is a stage of its own, and stages end at 32767.
        when p_destination.at_limit = 'quarantine' and p_message.stage < 32767 and p_destination.quarantine_times > (
            select count(*) from howdah.quarantines q
            where q.message_id = p_message.message_id and q.destination_id = p_destination.id)
            then 'quarantined'
        when p_destination.at_limit = 'end_conversation' and p_message.conversation_id is not null then 'ended'
        when p_destination.at_limit = 'discard' then 'discarded'
        when p_destination.exception_mode = 'none' then 'blocked'
        when p_nonpersistent and not p_destination.process_non_persistent then 'discarded'
        else 'moved'
    end;
    if p_destination.clean_incidents then
        p_reason := p_reason || '; its incidents were deleted';
    end if;
    if v_outcome = 'moved' then
        v_outcome := howdah._move_dead(p_destination, p_message, p_nonpersistent, p_reason);
    end if;
    perform howdah._tell(p_destination, p_message, v_outcome, p_reason);
    if v_outcome = 'blocked' then
        perform howdah._park(p_message, p_nonpersistent, howdah._blocked_until(p_destination), 'blocked');
    elsif v_outcome = 'quarantined' then
        insert into howdah.quarantines (message_id, destination_id, stage, at)
        values (p_message.message_id, p_destination.id, p_message.stage, howdah.now());
        -- Another stage: its failures count anew when it returns, and its incidents stay.
        p_message.stage := p_message.stage + 1;
        perform howdah._park(p_message, p_nonpersistent, howdah.now() + p_destination.quarantine_ms * interval '1 millisecond', 'quarantine');
    elsif v_outcome in ('ended', 'discarded') then
        perform howdah._journal(p_destination, 'discarded', array[p_message.message_id], p_nonpersistent, null,
            case v_outcome when 'ended' then 'conversation ended: ' else '' end || p_reason);
    end if;
    if v_outcome = 'ended' then
        perform howdah._end_conversation(p_message.conversation_id, 500, p_reason, p_message.reply_to, p_message.correlation_id);
    end if;
    perform howdah._clean_incidents(p_destination, p_message.message_id, p_message.conversation_id,
        howdah._group(p_message.headers, p_message.conversation_id), v_outcome);
    return v_outcome;
end
$$;

-- howdah._clean_incidents(p_destination, p_message_id, p_conversation_id, p_group, p_outcome): delete the incidents of what was disposed of, if the queue wants that.
--
-- Role     internal
create or replace function howdah._clean_incidents(
    p_destination howdah.destinations, p_message_id bigint, p_conversation_id uuid, p_group text, p_outcome text
) returns void
language plpgsql volatile
as $$
begin
    if p_destination.clean_incidents and p_outcome in ('moved', 'discarded', 'ended') then
        delete from howdah.poison_details p
        where p.incident_id in (
            select l.incident_id from howdah.poison_details l
            where l.destination_id = p_destination.id and l.message_id = p_message_id
               or p_destination.count_by = 'conversation' and l.destination_id = p_destination.id and l.conversation_id = p_conversation_id
               or p_destination.count_by = 'group' and l.destination_id = p_destination.id and l.message_group = p_group
            for update skip locked);
    end if;
end
$$;

-- howdah._blocked_until(p_destination): when a message that is past its limit and stays is tried again.
--
-- Returns  timestamptz; the end of the year 9999, the last that every client can read: not before howdah.retry.
-- Role     internal
--
-- WebSphere: the queue's own value only where it overrides the engine's, whose default is 5,000 ms.
create or replace function howdah._blocked_until(p_destination howdah.destinations) returns timestamptz
language sql volatile
as $$
    select case when p_destination.override_blocked_retry and p_destination.blocked_retry_ms < 0 then timestamptz '9999-12-31 00:00+00'
        else howdah.now() + interval '1 millisecond' * case when p_destination.override_blocked_retry then p_destination.blocked_retry_ms
            else e.default_blocked_retry_ms end end
    from howdah.engine e
$$;

-- howdah._move_dead(p_destination, p_message, p_nonpersistent, p_reason): move a message to the exception destination.
--
-- Returns  moved, or blocked if there is nowhere to go but its own queue.
-- Role     internal
--
-- Where the policy's destination is missing, full or not permitted the fallback takes it, as WebSphere's system exception destination
-- and IBM MQ's dead-letter queue do, and the reason says so. There a message no longer expires. ActiveMQ's dead-letter queues
-- keep a non-persistent message as a persistent one, and its headers say what it was.
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
    foreach v_name in array array[
        howdah._exception_name(p_destination),
        case p_destination.exception_fallback
            when 'dead_letter' then 'SYSTEM.DEAD.LETTER.QUEUE'
            else (select '_SYSTEM.Exception.Destination.' || e.name from howdah.engine e) end,
        (select '_SYSTEM.Exception.Destination.' || e.name from howdah.engine e)
    ] loop
        select d.* into v_target from howdah.destinations d where d.name = v_name and d.dropped_at is null and d.kind = 'queue';
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
            'originalDeliveryMode', case when p_nonpersistent then 'NON_PERSISTENT' end, 'dlqDeliveryFailureCause', p_reason));
    end if;
    p_message.origin_id := coalesce(p_message.origin_id, p_destination.id);
    p_message.destination_id := v_target.id;
    perform pg_current_xact_id();  -- before a position is drawn: howdah._mark
    p_message.seq := nextval(v_target.positions);
    p_message.stage := least(p_message.stage + 1, 32767);
    p_message.expires_at := null;
    p_message.dead_at := howdah.now();
    p_message.dead_reason := p_reason;
    delete from howdah.quarantines q where q.message_id = p_message.message_id and q.destination_id = p_destination.id;
    perform howdah._put(p_message, p_nonpersistent and not (v_activemq and v_target.persistent), false);
    perform howdah._journal(p_destination, 'moved', array[p_message.message_id], p_nonpersistent, v_target.id, p_reason);
    return 'moved';
end
$$;

-- howdah._fault_of(p_destination, p_target, p_name, p_message): why a dead message cannot go to a destination.
--
-- Returns  text; NULL: it can.
-- Role     internal
--
-- IBM MQ: the consumer needs the rights to get, inquire, put, pass all context and set all context there. The engine's own always take.
create or replace function howdah._fault_of(p_destination howdah.destinations, p_target howdah.destinations, p_name text, p_message howdah.msgs)
returns text
language plpgsql volatile
as $$
begin
    return case
        when p_target.id is null then format('there is no queue %s', p_name)
        when p_target.is_system then null
        -- A dead message that fails again goes on, but not round in a circle: its incidents tell where it was since it left its origin.
        when p_target.id = p_message.origin_id or p_message.dead_at is not null and exists (
            select from howdah.poison_details p
            where p.message_id = p_message.message_id and p.destination_id = p_target.id and p.incident_id > (
                select coalesce(max(o.incident_id), 0) from howdah.poison_details o
                where o.message_id = p_message.message_id and o.destination_id = p_message.origin_id)) then format('it came from queue %s', p_name)
        when not howdah._has_room(p_target, 1, howdah._body_bytes(p_message.body, p_message.message_id)) then format('queue %s is full', p_name)
        when p_destination.check_rights and exists (
            select from unnest(array['receive', 'browse', 'send', 'pass_all', 'set_all']) v(verb)
            where not exists (select from howdah.destination_grants g
                              where g.destination_id = p_target.id and g.verb = v.verb
                                and howdah._has_role(g.role_name)))
            then format('NOT_AUTHORIZED: role %s lacks rights on queue %s', howdah._caller(), p_name)
    end;
end
$$;
