-- howdah._admit(p_destination_id, p_rank, p_selector, p_consumer, p_hold): how the caller may look for messages in a
-- queue that is not plain.
--
-- Returns  howdah.walk. admitted is false if another consumer is at work or active there. In a queue of strict order it
--          is also false if the next message waits for its redelivery. groups NULL: as in a plain queue.
-- Raises   HD019 the queue is hardened and this is no attempt; HD023 the selector is invalid; HD032 the consumer is not
--          open.
-- Role     internal
--
-- With strict order, single, failover or an exclusive consumer, the consumer's transaction holds an advisory lock. The
-- next consumer waits for that transaction to end.
--
-- In strict order, a returned message is first again, and a delayed or blocked one holds up all others in the queue.
-- That is stricter than transaction groups, so groups do not matter there. Where consumers are admitted one at a time
-- for another reason, such groups are `alone`: like `transaction`, and no free message is skipped.
create or replace function howdah._admit(
    p_destination_id integer, p_rank smallint, p_selector text, p_consumer bigint, p_hold boolean
)
returns howdah.walk
language plpgsql volatile
as $$
declare
    v_queue howdah.destinations;
    v_walk howdah.walk;
    v_alone boolean;
    v_turn record;
begin
    select d.* into v_queue from howdah.destinations d where d.id = p_destination_id;
    perform howdah._check_hardened(v_queue);
    v_walk.admitted := true;
    if btrim(p_selector) <> '' then
        v_walk.selector := btrim(p_selector);
        v_walk.condition := howdah._selection(p_destination_id, p_rank, v_walk.selector);
    end if;
    v_walk.hold := p_hold;
    v_alone := v_queue.strict_order;
    if p_consumer is not null or v_queue.delivery_policy <> 'shared' or v_queue.message_groups = 'sticky'
       or exists (select from howdah.consumers c where c.destination_id = p_destination_id and c.exclusive) then
        v_turn := howdah._consumer_turn(v_queue, p_consumer, howdah.now());
        v_walk.admitted := v_turn.admitted;
        v_walk.share := v_turn.share;
        v_alone := v_alone or v_turn.alone;
    end if;
    v_walk.consumer := p_consumer;
    if v_walk.admitted and v_alone then
        v_walk.admitted := pg_try_advisory_xact_lock(howdah._lock_key('turn', p_destination_id::text))
            and not (v_queue.strict_order
                and (howdah._parks_waiting(v_queue, howdah.now())
                    or howdah._is_held_up(p_destination_id, howdah.now())));
    end if;
    if v_alone and v_queue.message_groups = 'transaction' then
        v_queue.message_groups := case when v_queue.strict_order then 'none' else 'alone' end;
    end if;
    if v_walk.condition is not null or howdah._is_walked(v_queue) then
        v_walk.groups := v_queue.message_groups;
    end if;
    return v_walk;
end
$$;
