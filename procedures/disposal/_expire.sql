-- howdah._expire(p_destination, p_message, p_nonpersistent): dispose of an expired message whose row the caller has
-- deleted.
--
-- Role     internal
--
-- If its queue has process_expired, as in ActiveMQ, it goes to the exception destination, where it no longer expires.
-- Otherwise it is gone, and the journal records it.
create or replace function howdah._expire(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean
) returns void
language plpgsql volatile
as $$
declare
    v_reason text;
begin
    perform howdah._keep_outcome(p_destination, p_message, 'expired');
    if p_destination.process_expired and p_destination.exception_mode <> 'none'
        and (not p_nonpersistent or p_destination.process_non_persistent) then
        v_reason := format('Message Expired. Expiration:%s', (extract(epoch from p_message.expires_at) * 1000)::bigint);
        if howdah._move_dead(p_destination, p_message, p_nonpersistent, v_reason) = 'moved' then
            perform howdah._report_disposal(p_destination, p_message, 'moved', v_reason);
            perform howdah._clean_incidents(p_destination, p_message.message_id, p_message.conversation_id,
                howdah._group(p_message.headers, p_message.conversation_id), 'moved');
            return;
        end if;
    end if;
    perform howdah._journal(p_destination, 'expired', array[p_message.message_id], p_nonpersistent);
end
$$;
