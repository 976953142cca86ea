-- howdah._move(p_source, p_target, p_message_ids, p_max, p_reason): move messages to another queue.
--
-- Returns  the number of messages moved (bigint). p_message_ids NULL: all, at most p_max. Messages in somebody's hands
--          are skipped.
-- Role     internal
create or replace function howdah._move(
    p_source howdah.destinations, p_target howdah.destinations, p_message_ids bigint[], p_max bigint, p_reason text
) returns bigint
language plpgsql volatile
as $$
declare
    v_said text := concat_ws(': ', 'moved by ' || howdah._caller(), nullif(p_reason, ''));
    v_taken record;
    v_message howdah.msgs;
    v_persistent bigint[];
    v_nonpersistent bigint[];
begin
    for v_taken in
        select t.message, t.nonpersistent from howdah._take_back(p_source, p_message_ids, p_max) t
        order by (t.message).message_id
    loop
        v_message := v_taken.message;
        v_message.origin_id := nullif(coalesce(v_message.origin_id, p_source.id), p_target.id);
        v_message.destination_id := p_target.id;
        v_message.seq := nextval(p_target.positions);
        v_message.stage := least(v_message.stage + 1, 32767);
        if v_message.origin_id is null then
            v_message.dead_at := null;
            v_message.dead_reason := null;
        elsif v_message.dead_at is not null or p_target.is_system then
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
    perform howdah._journal(p_source, 'moved', v_persistent, false, p_target.id, v_said);
    perform howdah._journal(p_source, 'moved', v_nonpersistent, true, p_target.id, v_said);
    perform howdah._record_act('moved', p_source.id, v_persistent || v_nonpersistent, p_target.id, p_reason);
    return coalesce(cardinality(v_persistent || v_nonpersistent), 0);
end
$$;
