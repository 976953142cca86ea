-- howdah.receive_locked(queue, max_messages, selector, consumer): look at messages and hold them, without taking them
-- yet.
--
-- Returns  as howdah.receive.
-- Raises   HD001 no such queue; HD003, HD005 max_messages is not 1 to 10000, or it is a topic; HD009 receiving is
--          paused; HD010 not allowed; HD016 failures in a row disabled the queue; HD019 the queue is hardened; HD023,
--          HD024, HD025, HD032 as howdah.receive.
-- Role     howdah_consumer howdah_admin
--
-- Nobody else receives them until the transaction ends. howdah.consume_locked takes those that were handled; the others
-- are back in their place at COMMIT, so one bad message need not undo the batch. This is Oracle AQ's LOCKED mode.
create or replace function howdah.receive_locked(
    queue text, max_messages integer default 1, selector text default null, consumer bigint default null
)
returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set enable_sort = off set jit = off
as $$
begin
    return query select * from howdah.receive(queue, max_messages, true, selector, consumer);
end
$$;
