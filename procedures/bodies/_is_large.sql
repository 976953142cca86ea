-- howdah._is_large(p_bytes): whether a body of p_bytes bytes is stored apart from its message.
--
-- Returns  boolean.
-- Role     internal
--
-- PostgreSQL would store a longer body of a row of msgs out of line, and write it again wherever the message moves.
create or replace function howdah._is_large(p_bytes integer) returns boolean
language sql immutable
as $$ select p_bytes > 1900 $$;
