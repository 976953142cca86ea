-- pgmq_public.read(queue_name, sleep_seconds, n): read up to n visible messages, and hide them for some seconds.
--
-- Returns  as pgmq.read.
-- Raises   as pgmq.read.
-- Role     howdah_consumer howdah_admin
create or replace function pgmq_public.read(
    queue_name text, sleep_seconds integer, n integer
) returns setof pgmq.message_record
language sql volatile
as $$ select * from pgmq.read(queue_name, sleep_seconds, n) $$;
