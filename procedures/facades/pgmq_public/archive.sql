-- pgmq_public.archive(queue_name, message_id): consume a message and keep it in the archive.
--
-- Returns  as pgmq.archive.
-- Raises   as pgmq.archive.
-- Role     howdah_consumer howdah_admin
create or replace function pgmq_public.archive(queue_name text, message_id bigint) returns boolean
language sql volatile
as $$ select pgmq.archive(queue_name, message_id) $$;
