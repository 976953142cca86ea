-- howdah._result_queue(p_queue): a queue about whose messages the caller may read results.
--
-- Returns  howdah.destinations.
-- Raises   HD001 no such queue; HD010 the caller may neither send to the queue nor browse it.
-- Role     internal
--
-- Its senders are the roles with the right to send, for a message does not know its own sender.
create or replace function howdah._result_queue(p_queue text) returns howdah.destinations
language plpgsql stable
as $$
declare
    v_id integer := (select d.id from howdah.destinations d where d.dropped_at is null
        and d.name = coalesce((select a.target from howdah.aliases a where a.name = p_queue), p_queue));
begin
    return howdah._queue(p_queue, case when v_id is not null and howdah._has_right(v_id, 'browse') then 'browse'
        else 'send' end);
end
$$;
