-- howdah._dispose_evicted(p_destination, p_message, p_nonpersistent, p_reason): dispose of a message that was removed
-- to make room.
--
-- Role     internal
--
-- It goes where dead messages go. It is discarded if the policy discards dead messages or would leave them in their
-- queue. If it has expired, it is treated as expired.
create or replace function howdah._dispose_evicted(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean, p_reason text
)
returns void
language plpgsql volatile
as $$
begin
    if p_message.expires_at <= howdah.now() then
        perform howdah._expire(p_destination, p_message, p_nonpersistent);
    elsif p_destination.exception_mode = 'none' or p_destination.at_limit = 'discard'
       or p_nonpersistent and not p_destination.process_non_persistent
       or howdah._move_dead(p_destination, p_message, p_nonpersistent, p_reason) <> 'moved' then
        perform howdah._journal(p_destination, 'discarded', array[p_message.message_id], p_nonpersistent, null,
            p_reason, p_reliability => p_message.reliability);
    end if;
end
$$;
