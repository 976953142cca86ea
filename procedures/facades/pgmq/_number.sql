-- pgmq._number(p_destination_id, p_message_id): the msg_id of a message in a queue.
--
-- Returns  bigint: the position at which it was sent; the negative message_id if it was sent to another queue.
-- Role     internal
create or replace function pgmq._number(p_destination_id integer, p_message_id bigint) returns bigint
language sql immutable
as $$
    select case when p_message_id % 1000000 = p_destination_id then p_message_id / 1000000 else -p_message_id end
$$;
