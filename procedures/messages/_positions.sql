-- howdah._positions(p_destination_id, p_message_id): the positions where a message may lie ready in a destination.
--
-- Returns  bigint[]: the position in its id, if it was sent there, and those that it was moved to.
-- Role     internal
create or replace function howdah._positions(p_destination_id integer, p_message_id bigint) returns bigint[]
language plpgsql stable set enable_seqscan = off set jit = off
as $$
begin
    return array(
        select p_message_id / 1000000 where p_message_id % 1000000 = p_destination_id
        union
        select o.seq from howdah.moved o where o.message_id = p_message_id and o.destination_id = p_destination_id);
end
$$;
