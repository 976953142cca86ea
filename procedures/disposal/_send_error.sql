-- howdah._send_error(p_reply_to, p_from_id, p_error, p_text, p_correlation_id, p_conversation_id): send an error
-- message to the other side.
--
-- Role     internal
--
-- Nothing is sent if p_reply_to is no queue, belongs to the engine, or is paused or full. The failing queue itself gets
-- none either, because it would answer itself without end.
create or replace function howdah._send_error(
    p_reply_to text, p_from_id integer, p_error integer, p_text text, p_correlation_id text, p_conversation_id uuid
) returns void
language plpgsql volatile
as $$
declare
    v_target howdah.destinations;
    v_message howdah.msgs;
begin
    select d.* into v_target from howdah.destinations d
    where d.name = p_reply_to and d.dropped_at is null and d.kind = 'queue' and not d.is_system
      and not d.own_sending_paused
      and d.id is distinct from p_from_id and (not d.name ^@ '_TEMP.' or howdah._hold_temporary(d));
    if v_target.id is null or not howdah._has_room(v_target, 1, 1000) then
        return;
    end if;
    v_message := howdah._new_message(v_target, convert_to(jsonb_build_object('code', p_error, 'text', p_text)::text,
        'UTF8'),
        'application/json', 'Error');
    v_message.correlation_id := p_correlation_id;
    v_message.conversation_id := p_conversation_id;
    perform howdah._put(v_message, not v_target.persistent, false);
    if v_target.journal_level = 'full' then
        perform howdah._journal_one_sent(v_target, v_message, v_message.body, not v_target.persistent, false);
    end if;
end
$$;
