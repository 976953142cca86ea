-- howdah._bridge_transformed(p_queue, p_transformation, p_messages, …): send messages into a bridged queue as a
-- transformation makes them.
--
-- Raises   HD007, HD018 as howdah.send_batch; HD049 the transaction is not READ COMMITTED.
-- Role     internal
--
-- p_messages are as the topic has them. A message that cannot be transformed, for whatever reason, goes into the queue
-- as it is. There it is rejected in the same transaction. The queue's policy moves it where its dead messages go, with
-- the error on record. The publisher gets no error for it, as for any consumer's failure. So the queue's contract does
-- not hold for it, and it replaces no last value.
--
-- A queue with stamp_user gets p_user as the sender of what the function returned.
create or replace function howdah._bridge_transformed(
    p_queue howdah.destinations, p_transformation text, p_messages howdah.message[], p_time_to_live interval,
    p_notify boolean, p_user text
) returns void
language plpgsql volatile
as $$
declare
    v_message howdah.message;
    v_made record;
    v_id bigint;
    v_contract constant jsonb := p_queue.contract;
    v_key constant text := p_queue.last_value_key;
    v_at_limit constant text := p_queue.at_limit;
    v_procedure constant text := p_queue.poison_procedure;
begin
    if howdah._has_old_snapshot() then  -- no message is to blame: howdah._run_function would refuse them all
        raise exception using errcode = 'HD049',
            message = format('publishing to %s needs READ COMMITTED', quote_literal(p_messages[1].queue)),
            hint = format('The bridge to %s has a transformation. An older snapshot may not see what was checked of '
                'its function.', quote_literal(p_queue.name));
    end if;
    foreach v_message in array p_messages loop
        v_made := howdah._transform(p_transformation, v_message);
        if v_made.failure is null then
            v_message := v_made.message;
        end if;
        -- Quarantine, or a poison procedure, would bring it back as it was published.
        p_queue.poison_procedure := case when v_made.failure is null then v_procedure end;
        p_queue.at_limit := case when v_made.failure is not null and v_at_limit = 'quarantine' then 'move'
            else v_at_limit end;
        p_queue.contract := case when v_made.failure is null then v_contract end;
        p_queue.last_value_key := case when v_made.failure is null then v_key end;
        v_id := (howdah._send_batch(p_queue,
            array[coalesce(convert_to(v_message.body, 'UTF8'), v_message.bytes)], v_message.body is not null,
            v_message.content_type,
            case when p_queue.stamp_user then howdah._stamped_all(array[v_message.headers], 1, p_user)
                else array[v_message.headers] end, array[v_message.priority],
            array[v_message.correlation_id], array[v_message.message_type], array[v_message.conversation_id],
            v_message.reply_to, p_time_to_live, null, v_message.reliability, p_notify))[1];
        if v_made.failure is not null then
            perform howdah._record_failure(p_queue, v_made.failure - array['priority', 'position', 'stage']
                || jsonb_build_object('message_id', v_id, 'reject', true), false, true);
        end if;
    end loop;
end
$$;
