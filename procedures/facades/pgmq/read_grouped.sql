-- pgmq.read_grouped(queue_name, vt, qty): read visible messages, as many as possible of the group of the oldest one,
-- then of the next group.
--
-- Returns  the messages, which are hidden for vt seconds.
-- Raises   42P01 no such queue; 2201W qty is negative; HD009 receiving is paused; HD010 not allowed; HD016
--          disabled; HD040 the engine is paused, quiesced or stopped.
-- Role     howdah_consumer howdah_admin
--
-- The header x-pgmq-group names a group. All messages without it are one group.
create or replace function pgmq.read_grouped(queue_name text, vt integer, qty integer)
returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ begin return query select * from pgmq._read_groups(queue_name, make_interval(secs => vt), qty, 'fill'); end $$;
