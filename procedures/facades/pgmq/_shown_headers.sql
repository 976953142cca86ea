-- pgmq._shown_headers(p_headers): the headers of a stored message as they were given to pgmq.send.
--
-- Returns  jsonb.
-- Role     internal
create or replace function pgmq._shown_headers(p_headers jsonb) returns jsonb
language sql immutable
as $$ select case when p_headers ? 'pgmq_headers' then p_headers -> 'pgmq_headers' else p_headers end $$;
