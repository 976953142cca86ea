-- pgmq_public.pop(queue_name): consume the visible message with the lowest number.
--
-- Returns  as pgmq.pop.
-- Raises   as pgmq.pop.
-- Role     howdah_consumer howdah_admin
create or replace function pgmq_public.pop(queue_name text) returns setof pgmq.message_record
language sql volatile
as $$ select * from pgmq.pop(queue_name) $$;
