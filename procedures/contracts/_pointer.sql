-- howdah._pointer(p_at, p_key): the JSON Pointer (RFC 6901) of a member of what another pointer names.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._pointer(p_at text, p_key text) returns text
language sql immutable
as $$ select p_at || '/' || replace(replace(p_key, '~', '~0'), '/', '~1') $$;
