-- howdah._park_waiting(p_destination, p_message, p_nonpersistent, p_weight, p_now): park a message that the delay of
-- its last failure still holds back.
--
-- Returns  boolean; false if it is at its limit or has no such delay, and then nothing was done.
-- Role     internal
--
-- The caller has deleted the row. When the failure is settled later, the message is found parked, and stays so.
create or replace function howdah._park_waiting(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean, p_weight integer,
    p_now timestamptz
) returns boolean
language plpgsql volatile
as $$
declare
    v_due_at timestamptz;
begin
    if p_weight >= p_destination.dispose_at then
        return false;
    end if;
    v_due_at := howdah._waits_until(p_destination.id, p_message.message_id, p_message.stage);
    if (v_due_at > p_now) is not true then
        return false;
    end if;
    perform howdah._park(p_message, p_nonpersistent, v_due_at, 'redelivery');
    return true;
end
$$;
