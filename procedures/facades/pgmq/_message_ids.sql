-- pgmq._message_ids(p_destination_id, p_numbers): the ids in howdah of messages with these msg_id.
--
-- Returns  bigint[]. Numbers that no message can have are left out.
-- Role     internal
create or replace function pgmq._message_ids(p_destination_id integer, p_numbers bigint[]) returns bigint[]
language sql immutable
as $$
    select array(
        select case when n.number > 0 then n.number * 1000000 + p_destination_id else -n.number end
        from unnest(p_numbers) n(number)
        where n.number between -9223372036854775807 and 9223372036852 and n.number <> 0)
$$;
