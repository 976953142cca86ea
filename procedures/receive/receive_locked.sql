-- howdah.receive_locked(queue, max_messages, selector, consumer): hold messages without consuming them yet.
--
-- Returns  as howdah.receive.
-- Raises   HD001 no such queue; HD003, HD005 max_messages is not 1 to 10000, or queue is a topic; HD009 receiving is
--          paused; HD010 not allowed; HD016 failures in a row disabled the queue; HD019 the queue is hardened; HD023,
--          HD024, HD025, HD032 as howdah.receive; HD040 the engine is paused, quiesced or stopped; HD002, HD004, HD027
--          the missing queue cannot create itself (docs/auto-creation.md); HD045 the master of changes is away; HD049
--          the transformation cannot be called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- Nobody else receives the messages until the transaction ends. howdah.consume_locked consumes those that were handled.
-- COMMIT returns the others to their place, so one bad message need not undo the batch. This is the LOCKED mode of
-- Oracle AQ.
create or replace function howdah.receive_locked(
    queue text, max_messages integer default 1, selector text default null, consumer bigint default null
)
returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set enable_sort = off set jit = off
as $$
declare
    v_messages howdah.message[];
    v_gone bigint[];
begin
    if pg_sequence_last_value('howdah.senders_noted'::regclass) is null then
        return query select * from howdah.receive(queue, max_messages, true, selector, consumer);
        return;
    end if;
    v_messages := array(select r from howdah.receive(queue, max_messages, true, selector, consumer) r);
    v_gone := howdah._hold_published(array(
        select m.message_id from unnest(v_messages) m where m.delivery_mode = 'non-persistent'));
    return query select m.* from unnest(v_messages) m where m.message_id <> all (v_gone);
end
$$;
