-- howdah._is_unblamed(p_message_id, p_group): whether certainly no failure counts against a message.
--
-- Returns  boolean; false means that the caller must look more closely. It is false for a message of a group or
--          conversation, whose failures may count.
-- Role     internal
create or replace function howdah._is_unblamed(p_message_id bigint, p_group text) returns boolean
language plpgsql volatile
as $$
begin
    return p_group is null and not exists (select from howdah.poison_details p where p.message_id = p_message_id);
end
$$;
