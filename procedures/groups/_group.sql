-- howdah._group(p_headers, p_conversation_id): the message group of a message.
--
-- Returns  text: the header JMSXGroupID, or else the conversation; NULL if there is none.
-- Role     internal
create or replace function howdah._group(p_headers jsonb, p_conversation_id uuid) returns text
language sql immutable
as $$ select coalesce(p_headers ->> 'JMSXGroupID', p_conversation_id::text) $$;
