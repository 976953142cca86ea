-- howdah._apply_limit_policy(p_destination, p_message, p_nonpersistent, p_reason): dispose of a message by its queue's
-- policy.
--
-- Returns  what was done: moved, blocked (it stays and waits for its retry), discarded, quarantined or ended.
-- Role     internal
--
-- The caller has deleted the row in the same transaction. Nobody is woken: after a NOTIFY, a receive that disposes of a
-- message could never be prepared. Copies, replies and reports are sent before the message itself.
create or replace function howdah._apply_limit_policy(
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
    perform howdah._report_disposal(p_destination, p_message, v_outcome, p_reason);
    if v_outcome in ('moved', 'discarded', 'ended') then
        perform howdah._keep_outcome(p_destination, p_message, 'failed');
    end if;
    if v_outcome = 'blocked' then
        perform howdah._park(p_message, p_nonpersistent, howdah._blocked_until(p_destination), 'blocked');
    elsif v_outcome = 'quarantined' then
        insert into howdah.quarantines (message_id, destination_id, stage, at)
        values (p_message.message_id, p_destination.id, p_message.stage, howdah.now());
        -- The new stage makes its failures count from zero when it returns; its incidents stay.
        p_message.stage := p_message.stage + 1;
        perform howdah._park(p_message, p_nonpersistent,
            howdah.now() + p_destination.quarantine_ms * interval '1 millisecond', 'quarantine');
    elsif v_outcome in ('ended', 'discarded') then
        perform howdah._journal(p_destination, 'discarded', array[p_message.message_id], p_nonpersistent, null,
            case v_outcome when 'ended' then 'conversation ended: ' else '' end || p_reason,
            p_reliability => p_message.reliability);
    end if;
    if v_outcome = 'ended' then
        perform howdah._end_conversation(p_message.conversation_id, 500, p_reason, p_message.reply_to,
            p_message.correlation_id);
    end if;
    perform howdah._clean_incidents(p_destination, p_message.message_id, p_message.conversation_id,
        howdah._group(p_message.headers, p_message.conversation_id), v_outcome);
    return v_outcome;
end
$$;
