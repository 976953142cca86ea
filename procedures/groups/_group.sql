-- howdah._group(p_headers, p_conversation_id): the message group of a message.
--
-- Returns  text: the header JMSXGroupID, or else the conversation; NULL if there is none.
-- Role     internal
--
-- If a name is longer, its first 500 characters count, because an entry of an index has at most 2,704 bytes.
create or replace function howdah._group(p_headers jsonb, p_conversation_id uuid) returns text
language sql immutable
as $$ select coalesce(left(p_headers ->> 'JMSXGroupID', 500), p_conversation_id::text) $$;
