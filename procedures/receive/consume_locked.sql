-- howdah.consume_locked(queue, message_ids, priorities, positions): consume messages held by howdah.receive_locked.
--
-- Returns  nothing. The arguments are the ids, priorities and positions of the messages received.
-- Raises   HD001 no such queue; HD005 an array is NULL or the arrays differ in length; HD010 not allowed; HD013 a
--          message is no longer there.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.consume_locked(
    queue text, message_ids bigint[], priorities integer[], positions bigint[]
)
returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
begin
    if (cardinality(message_ids) = cardinality(priorities)
        and cardinality(message_ids) = cardinality(positions)) is not true then
        raise exception using errcode = 'HD005',
            message = 'message_ids, priorities and positions must be of equal length';
    end if;
    perform howdah._end_locked(v_destination, message_ids, priorities, positions, 'consumed', 'held');
end
$$;
