-- pgmq_public.send_batch(queue_name, messages, sleep_seconds): send many messages, visible after some seconds.
--
-- Returns  as pgmq.send_batch.
-- Raises   as pgmq.send_batch.
-- Role     howdah_producer howdah_admin
create or replace function pgmq_public.send_batch(
    queue_name text, messages jsonb[], sleep_seconds integer default 0
) returns setof bigint
language sql volatile
as $$ select * from pgmq.send_batch(queue_name, messages, sleep_seconds) $$;
