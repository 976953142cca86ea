-- howdah.move_messages(queue, message_ids, target, reason): put messages into another queue, remembering where they came from.
--
-- Returns  the number of messages moved (bigint).
-- Raises   HD001 no such queue; HD005 message_ids is NULL, or target is the queue itself or a topic; HD010 not allowed;
--          HD013 a message is not in the queue, or is in somebody's hands.
-- Role     howdah_admin
--
-- All or none. Body, headers, identity, times and incidents stay; origin_queue stays or becomes queue, so that howdah.replay sends
-- them back; moved to their origin they are as before they left it. Failures count from 0, the place is the end of the target.
create or replace function howdah.move_messages(queue text, message_ids bigint[], target text, reason text default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
as $$
declare
    v_source howdah.destinations := howdah._queue(queue, 'admin');
    v_target howdah.destinations := howdah._queue(target, 'admin');
    v_said text := concat_ws(': ', 'moved by ' || howdah._caller(), nullif(reason, ''));
    v_taken record;
    v_message howdah.msgs;
    v_persistent bigint[];
    v_nonpersistent bigint[];
begin
    if v_source.id = v_target.id then
        raise exception using errcode = 'HD005', message = format('the messages are in queue %s already', quote_literal(queue)),
            hint = 'Name another target.';
    end if;
    for v_taken in select t.message, t.nonpersistent from howdah._take_these(v_source, message_ids, 'moved') t loop
        v_message := v_taken.message;
        v_message.origin_id := nullif(coalesce(v_message.origin_id, v_source.id), v_target.id);
        v_message.destination_id := v_target.id;
        v_message.seq := nextval(v_target.positions);
        v_message.stage := least(v_message.stage + 1, 32767);
        if v_message.origin_id is null then
            v_message.dead_at := null;
            v_message.dead_reason := null;
        elsif v_message.dead_at is not null or v_target.is_system then
            v_message.dead_at := coalesce(v_message.dead_at, howdah.now());
            v_message.dead_reason := concat_ws('; ', v_message.dead_reason, v_said);
            v_message.expires_at := null;
        end if;
        perform howdah._put(v_message, v_taken.nonpersistent, true);
        if v_taken.nonpersistent then
            v_nonpersistent := v_nonpersistent || v_message.message_id;
        else
            v_persistent := v_persistent || v_message.message_id;
        end if;
    end loop;
    perform howdah._journal(v_source, 'moved', v_persistent, false, v_target.id, v_said);
    perform howdah._journal(v_source, 'moved', v_nonpersistent, true, v_target.id, v_said);
    perform howdah._act('moved', v_source.id, v_persistent || v_nonpersistent, v_target.id, reason);
    return coalesce(cardinality(v_persistent || v_nonpersistent), 0);
end
$$;
