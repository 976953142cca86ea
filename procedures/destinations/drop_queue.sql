-- howdah.drop_queue(queue, force): drop a queue; force also drops one that holds messages.
--
-- Returns  the number of messages discarded with it (bigint).
-- Raises   HD001 no such queue; HD010 not allowed; HD011 it holds messages; HD012 it belongs to the engine; HD045 the
--          master of changes is away.
-- Role     howdah_admin
--
-- Its listeners, links and kept messages go, too. A message is not lost if its sender commits after the drop, or a
-- receiver rolls back. howdah.maintain_dropped() finds it and moves it to the system exception destination.
create or replace function howdah.drop_queue(queue text, force boolean default false) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations;
    v_discarded bigint := 0;
begin
    perform from howdah.destinations d where d.name = queue and d.dropped_at is null for update;
    v_destination := howdah._own_queue(queue);
    if v_destination.kind <> 'queue' then
        raise exception using errcode = 'HD001', message = format('%s is a %s, not a queue', quote_literal(queue),
            v_destination.kind),
            hint = 'See howdah.drop_topic and howdah.unsubscribe.';
    end if;
    perform howdah._record_dropped(v_destination);
    if force then
        v_discarded := howdah._empty_destination(v_destination, 'queue dropped');
    elsif howdah._holds_messages(v_destination.id) then
        raise exception using errcode = 'HD011', message = format('queue %s holds messages', quote_literal(queue)),
            hint = 'Consume or purge them, or drop it with force => true.';
    end if;
    perform howdah._adopt(v_destination.id);  -- it comes back by no late message
    perform howdah._end_destination(v_destination.id);
    return v_discarded;
end
$$;
