-- howdah._body_bytes(p_body, p_message_id): the length of a message's body in bytes, wherever the body is stored.
--
-- Returns  integer.
-- Role     internal
create or replace function howdah._body_bytes(p_body bytea, p_message_id bigint) returns integer
language sql stable
as $$ select coalesce(octet_length(p_body), octet_length(howdah._body(p_message_id))) $$;
