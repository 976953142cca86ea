-- howdah._check_room(p_destination, p_messages, p_bytes, p_conversations, p_rank, p_level): refuse messages for which a
-- queue has no room, or whose conversation was ended.
--
-- Raises   HD017 a conversation was ended; HD018 the queue is full; HD027 the engine is full.
-- Role     internal
create or replace function howdah._check_room(
    p_destination howdah.destinations, p_messages bigint, p_bytes bigint, p_conversations uuid[],
    p_rank integer default 0, p_level smallint default 4
) returns void
language plpgsql volatile
as $$
declare
    v_ended record;
begin
    if array_length(array_remove(p_conversations, null), 1) > 0 then
        select e.* into v_ended from howdah.ended_conversations e where e.conversation_id = any (p_conversations)
        limit 1;
        if found then
            raise exception using errcode = 'HD017',
                message = format('conversation %s was ended', v_ended.conversation_id)
                || coalesce(' with error ' || v_ended.error || ': ' || v_ended.error_text, ''),
                hint = 'Begin another one: no message can be sent in it any more.';
        end if;
    end if;
    if p_destination.room is null or p_messages = 0 then
        return;
    end if;
    if p_destination.room in ('howdah.system_room'::regclass, 'howdah.no_room'::regclass) then
        perform howdah._check_system(p_messages, p_bytes, p_level);
    end if;
    if (p_destination.message_limit is not null or p_destination.byte_limit is not null)
       and not howdah._make_room(p_destination, p_messages, p_bytes, p_rank, p_level) then
        raise exception using errcode = 'HD018', message = format('queue %s is full',
            quote_literal(p_destination.name)),
            hint = format(
                'It takes %s messages and %s bytes at most (options message_limit, byte_limit); wait until some are '
                'consumed.',
                coalesce(p_destination.message_limit::text, 'any number of'),
                coalesce(p_destination.byte_limit::text, 'any number of'));
    end if;
end
$$;
