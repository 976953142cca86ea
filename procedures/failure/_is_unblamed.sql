-- howdah._is_unblamed(p_message_id, p_headers, p_conversation_id): whether certainly no failure counts against a
-- message.
--
-- Returns  boolean; false means that the caller must look more closely. It is false for a message of a group or
--          conversation, whose failures may count.
-- Role     internal
create or replace function howdah._is_unblamed(
    p_message_id bigint, p_headers jsonb, p_conversation_id uuid
) returns boolean
language plpgsql volatile
as $$
begin
    return howdah._group(p_headers, p_conversation_id) is null
        and not exists (select from howdah.poison_details p where p.message_id = p_message_id);
end
$$;
