-- howdah._detach_body(p_message): a new persistent message as it is stored; a large body goes to howdah.bodies.
--
-- Returns  howdah.msgs.
-- Role     internal
create or replace function howdah._detach_body(p_message howdah.msgs) returns howdah.msgs
language plpgsql volatile
as $$
begin
    if howdah._is_large(octet_length(p_message.body)) then
        perform howdah._keep_body(p_message.message_id, p_message.body);
        p_message.body := null;
    end if;
    return p_message;
end
$$;
