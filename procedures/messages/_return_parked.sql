-- howdah._return_parked(p_destination, p_message): make a message ready again that the caller has taken out of parked.
--
-- Role     internal
--
-- It comes back to its old place. In a queue with message groups, a message of a group stays in parked and is due at
-- once. There it holds up those behind it. In its old place, walks that began before the commit would pass it, and
-- others would get those behind it first.
create or replace function howdah._return_parked(p_destination howdah.destinations, p_message howdah.parked)
returns void
language plpgsql volatile
as $$
declare
    v_group text := case when p_destination.message_groups <> 'none' and not p_destination.strict_order
        then howdah._group(p_message.headers, p_message.conversation_id) end;
begin
    if v_group is null then
        perform howdah._put(howdah._as_ready(p_message), p_message.boot is not null, true);
        return;
    end if;
    p_message.due_at := howdah.now();
    p_message.parked_reason := 'redelivery';
    p_message.lease_id := null;
    p_message.group_id := v_group;
    insert into howdah.parked select (p_message).*;
    perform howdah._wake(p_destination.id, p_destination.waiting);
end
$$;
