-- howdah._failures(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group): the number of failures that
-- count against one message.
--
-- Returns  integer.
-- Role     internal
create or replace function howdah._failures(
    p_destination_id integer, p_message_id bigint, p_stage smallint, p_conversation_id uuid, p_group text
) returns integer
language plpgsql volatile
as $$
begin
    return (select coalesce(max(f.failures), 0)
        from howdah._count_failures(p_destination_id, array[p_message_id], array[p_stage], array[p_conversation_id],
            array[p_group]) f
        where f.stage = p_stage);
end
$$;
