-- howdah._dispose(p_destination_id, p_message, p_nonpersistent, p_place, p_now): dispose of a claimed message that must
-- not be delivered.
--
-- Returns  false, so that a WHERE clause leaves the message out. p_place: where its row still lies; NULL: the row is
--          deleted.
-- Role     internal
--
-- A message that is not at its limit, but waits for the delay of its last failure, is parked until then.
create or replace function howdah._dispose(
    p_destination_id integer, p_message howdah.msgs, p_nonpersistent boolean, p_place text, p_now timestamptz
) returns boolean
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_weight integer;
begin
    perform howdah._commit_needs(4);
    select d.* into v_destination from howdah.destinations d where d.id = p_destination_id;
    if p_place is not null then
        perform howdah._remove(p_message, p_place);
    end if;
    if p_message.expires_at <= p_now then
        perform howdah._expire(v_destination, p_message, p_nonpersistent);
    else
        v_weight := (select s.weight from howdah._standing(p_destination_id, p_message.message_id, p_message.stage,
            p_message.conversation_id, howdah._group(p_message.headers, p_message.conversation_id), null) s);
        if not howdah._park_waiting(v_destination, p_message, p_nonpersistent, v_weight, p_now) then
            perform howdah._apply_limit_policy(v_destination, p_message, p_nonpersistent,
                howdah._death_reason(v_weight));
        end if;
    end if;
    return false;
end
$$;
