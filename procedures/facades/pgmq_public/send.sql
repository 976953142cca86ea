-- pgmq_public.send(queue_name, message, sleep_seconds): send one message, visible after some seconds.
--
-- Returns  as pgmq.send.
-- Raises   as pgmq.send.
-- Role     howdah_producer howdah_admin
create or replace function pgmq_public.send(
    queue_name text, message jsonb, sleep_seconds integer default 0
) returns setof bigint
language sql volatile
as $$ select * from pgmq.send(queue_name, message, sleep_seconds) $$;
