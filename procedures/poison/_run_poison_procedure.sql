-- howdah._run_poison_procedure(p_destination, p_message, p_nonpersistent, p_reason): let a queue's own function deal
-- with a message at its limit.
--
-- Returns  handled: whether it did; reason: p_reason, and that it did, or what went wrong.
-- Role     internal
--
-- howdah._run_function says how it is called.
create or replace function howdah._run_poison_procedure(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean, p_reason text
) returns table (handled boolean, reason text)
language plpgsql volatile
as $$
declare
    v_name constant text := p_destination.poison_procedure;
    v_incidents constant jsonb := howdah._poison_incidents(p_destination.id, p_message);
    v_run record;
    v_fault text;
begin
    v_run := howdah._run_function('poison procedure', v_name, p_destination.poison_procedure_owner,
        howdah._message(p_message, p_destination.name, p_nonpersistent,
            greatest(jsonb_array_length(v_incidents) - 1, 0)), v_incidents);
    handled := coalesce(v_run.answer, false);
    reason := p_reason;
    v_fault := case when v_run.error_state is not null then format('%s: %s', v_run.error_state, left(v_run.fault, 500))
        else v_run.fault end;
    if v_fault is not null then
        raise warning 'poison procedure % of queue %: %', v_name, p_destination.name, v_fault;
        reason := format('%s; poison procedure %s failed: %s', p_reason, v_name, v_fault);
        if p_destination.notify_admin then
            perform howdah._advise('POISON_PROCEDURE_FAILED', p_destination.name,
                jsonb_build_object('message_id', p_message.message_id, 'procedure', v_name, 'reason', v_fault));
        end if;
    elsif handled then
        reason := format('%s; dealt with by poison procedure %s', p_reason, v_name);
    end if;
    return next;
end
$$;
