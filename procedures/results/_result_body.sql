-- howdah._result_body(p_message): the text of a message's body, for a caller who asks what became of the message.
--
-- Returns  text; NULL for bytes.
-- Role     internal
create or replace function howdah._result_body(p_message howdah.msgs) returns text
language sql stable
as $$
    select case when p_message.is_text
        then convert_from(coalesce(p_message.body, howdah._body(p_message.message_id)), 'UTF8') end
$$;
