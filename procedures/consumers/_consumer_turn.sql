-- howdah._consumer_turn(p_queue, p_consumer, p_now): whether it is a consumer's turn in a queue that tells its
-- consumers apart.
--
-- Returns  admitted: false if another consumer is active. alone: only one may be at work at a time. share: for
--          round_robin, the condition on positions that are this consumer's (NULL: all).
-- Raises   HD032 the queue needs an open consumer, or this one is not open, or no longer.
-- Role     internal
--
-- Dead consumers are closed here, so failover needs no daemon.
create or replace function howdah._consumer_turn(
    p_queue howdah.destinations, p_consumer bigint, p_now timestamptz,
    out admitted boolean, out alone boolean, out share text
) returns record
language plpgsql volatile
as $$
declare
    v_turn record;
    v_first integer;
begin
    if p_consumer is null and (p_queue.delivery_policy <> 'shared' or p_queue.message_groups = 'sticky') then
        raise exception using errcode = 'HD032', message = format('queue %s tells its consumers apart',
            quote_literal(p_queue.name)),
            hint = 'Call howdah.open_consumer(queue), COMMIT, and receive with consumer => its number.';
    elsif p_consumer is not null then
        perform howdah._check_consumer(p_queue, p_consumer, p_now);
    end if;
    perform howdah._close_dead(p_queue.id, p_now, p_consumer::integer);
    v_first := howdah._active_consumer(p_queue);
    alone := v_first is not null;
    admitted := v_first is null or v_first is not distinct from p_consumer;
    if p_queue.delivery_policy = 'round_robin' and not alone then
        select min(c.opened_position) filter (where c.id = o.first) as base, count(*) as consumers,
            count(*) filter (where c.id < p_consumer) as number
        into v_turn
        from howdah.consumers c cross join (select min(f.id) as first from howdah.consumers f
            where f.destination_id = p_queue.id) o
        where c.destination_id = p_queue.id;
        share := case when v_turn.consumers > 1
            then format('((m.seq - %s) %% %s + %2$s) %% %2$s = %s', v_turn.base + 1, v_turn.consumers,
                v_turn.number) end;
    end if;
end
$$;
