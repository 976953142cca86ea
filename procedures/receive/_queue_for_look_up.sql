-- howdah._queue_for_look_up(p_queue): a queue whose messages the caller may take out of order.
--
-- Returns  howdah.destinations.
-- Raises   HD001 no such queue; HD005 queue is a subscription or keeps an order; HD009 receiving is paused; HD010 not
--          allowed; HD016 failures in a row disabled the queue; HD019 the queue is hardened.
-- Role     internal
create or replace function howdah._queue_for_look_up(p_queue text) returns howdah.destinations
language plpgsql volatile
as $$
declare
    v_queue howdah.destinations;
begin
    perform howdah._ensure_destination(p_queue, 'queue');
    v_queue := howdah._queue(p_queue, 'receive');
    if v_queue.kind <> 'queue' or howdah._is_walked(v_queue)
       or exists (select from howdah.consumers c where c.destination_id = v_queue.id and c.exclusive) then
        raise exception using errcode = 'HD005', message = format('%s is read in its order only',
            quote_literal(p_queue)),
            hint =
                'A subscription keeps its order. So does a queue with strict_order, message_groups, limits by key, '
                'an exclusive consumer, or a delivery_policy other than shared.';
    elsif v_queue.receiving_paused then
        perform howdah._refuse_paused(v_queue.id);
    end if;
    perform howdah._check_hardened(v_queue);
    perform howdah._sweep_lost();
    perform howdah._discard_of_gone(v_queue.id);
    return v_queue;
end
$$;
