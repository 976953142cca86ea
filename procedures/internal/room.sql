-- howdah._has_room(p_destination, p_messages, p_bytes): whether a queue may take that many more messages and bytes of bodies.
--
-- Returns  boolean; true where it has no limits.
-- Role     internal
--
-- It counts, at most as far as the limit, what is committed and what the caller's transaction has put there: concurrent senders may
-- together exceed a limit by what each of them sends.
create or replace function howdah._has_room(p_destination howdah.destinations, p_messages bigint, p_bytes bigint) returns boolean
language plpgsql volatile
as $$
declare
    v_messages bigint;
    v_bytes bigint;
begin
    if p_destination.message_limit is null and p_destination.byte_limit is null then
        return true;
    end if;
    select count(*), coalesce(sum(l.bytes), 0) into v_messages, v_bytes
    from (
        select case when p_destination.byte_limit is not null then octet_length(m.body) end as bytes
        from howdah.msgs m where m.destination_id = p_destination.id
        union all
        select case when p_destination.byte_limit is not null then octet_length(n.body) end
        from howdah.msgs_nonpersistent n where n.destination_id = p_destination.id and n.boot = pg_postmaster_start_time()
        union all
        select case when p_destination.byte_limit is not null then octet_length(p.body) end
        from howdah.parked p where p.destination_id = p_destination.id and (p.boot is null or p.boot = pg_postmaster_start_time())
        limit p_destination.message_limit
    ) l;
    return (v_messages + p_messages <= p_destination.message_limit) is not false
        and (v_bytes + p_bytes <= p_destination.byte_limit) is not false;
end
$$;

-- howdah._check_room(p_destination, p_messages, p_bytes, p_conversations): refuse what a queue has no room for, and what is sent in an ended conversation.
--
-- Raises   HD017 a conversation was ended; HD018 the queue is full.
-- Role     internal
create or replace function howdah._check_room(p_destination howdah.destinations, p_messages bigint, p_bytes bigint, p_conversations uuid[])
returns void
language plpgsql volatile
as $$
declare
    v_ended record;
begin
    if array_length(array_remove(p_conversations, null), 1) > 0 then
        select e.* into v_ended from howdah.ended_conversations e where e.conversation_id = any (p_conversations) limit 1;
        if found then
            raise exception using errcode = 'HD017', message = format('conversation %s was ended', v_ended.conversation_id)
                || coalesce(' with error ' || v_ended.error || ': ' || v_ended.error_text, ''),
                hint = 'Begin another one: no message can be sent in it any more.';
        end if;
    end if;
    if not howdah._has_room(p_destination, p_messages, p_bytes) then
        raise exception using errcode = 'HD018', message = format('queue %s is full', quote_literal(p_destination.name)),
            hint = format('It takes %s messages and %s bytes at most (options message_limit, byte_limit); wait until some are consumed.',
                coalesce(p_destination.message_limit::text, 'any number of'), coalesce(p_destination.byte_limit::text, 'any number of'));
    end if;
end
$$;
