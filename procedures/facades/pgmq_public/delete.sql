-- pgmq_public.delete(queue_name, message_id): consume a message by its number.
--
-- Returns  as pgmq.delete.
-- Raises   as pgmq.delete.
-- Role     howdah_consumer howdah_admin
create or replace function pgmq_public.delete(queue_name text, message_id bigint) returns boolean
language sql volatile
as $$ select pgmq.delete(queue_name, message_id) $$;
