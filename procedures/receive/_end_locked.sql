-- howdah._end_locked(p_destination, p_message_ids, p_priorities, p_positions, p_event, p_reason, p_reliability): end
-- messages that the transaction holds by howdah.receive_locked, and record them as consumed or discarded.
--
-- Raises   HD013 a message is no longer there.
-- Role     internal
create or replace function howdah._end_locked(
    p_destination howdah.destinations, p_message_ids bigint[], p_priorities integer[], p_positions bigint[],
    p_event text, p_reason text, p_reliability smallint default null
) returns void
language plpgsql volatile
as $$
declare
    v_missing bigint[] := howdah._end_held(p_destination, p_message_ids, p_priorities, p_positions, p_event, p_reason,
        p_reliability);
begin
    if v_missing is not null then
        raise exception using errcode = 'HD013',
            message = format('message %s is not in queue %s', v_missing[1], quote_literal(p_destination.name)),
            hint = 'Messages are consumed in the transaction that received them with howdah.receive_locked, once.';
    end if;
end
$$;
