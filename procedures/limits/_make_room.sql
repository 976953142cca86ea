-- howdah._make_room(p_destination, p_messages, p_bytes, p_rank): have room in a queue for messages about to be sent, by the queue's limit_behaviour.
--
-- Returns  true: they may be sent, within the caller's transaction. False: the queue is full.
-- Role     internal
--
-- Whatever the behaviour, it waits up to a second for open transactions, if only what they sent and have not committed stands in the way; two that wait
-- so for each other are both told that the queue is full. From a limit of 1,024 messages or 1 MiB on a 128th of it more is removed than need be, so that
-- it is not counted for each message. p_rank is the highest rank of the messages: 9 minus the lowest priority.
create or replace function howdah._make_room(p_destination howdah.destinations, p_messages bigint, p_bytes bigint, p_rank integer) returns boolean
language plpgsql volatile
as $$
declare
    v_begun constant timestamptz := clock_timestamp();
    v_room constant regclass := format('howdah.room_%s', p_destination.id)::regclass;
    v_removes constant boolean := p_destination.limit_behaviour in ('remove_oldest', 'remove_lowest_priority');
    v_blocks constant boolean := p_destination.limit_behaviour = 'block'
        and current_setting('transaction_isolation') not in ('repeatable read', 'serializable');
    v_waited bigint;
    v_pause bigint := 1;
    v_taken record;
begin
    if p_messages > p_destination.message_limit or p_bytes > p_destination.byte_limit then
        return false;
    end if;
    loop
        select t.* into v_taken from howdah._take(p_destination.id, v_room, p_destination.tickets, p_destination.message_limit, p_destination.byte_limit,
            array[100], p_messages, p_bytes, v_removes) t;
        if v_taken.verdict = 'taken' then
            return true;
        end if;
        v_waited := extract(epoch from clock_timestamp() - v_begun) * 1000;
        if v_removes and (v_taken.verdict = 'full' or v_waited >= 1000) then
            if not howdah._evict(p_destination, greatest(v_taken.over_messages, (v_taken.verdict = 'open')::integer)
                                                + case when v_taken.over_messages > 0 and p_destination.message_limit >= 1024 then p_destination.message_limit >> 7 else 0 end,
                    v_taken.over_bytes + case when v_taken.over_bytes > 0 and p_destination.byte_limit >= 1048576 then p_destination.byte_limit >> 7
                                              else 0 end, p_rank) then
                return false;
            end if;
        elsif v_waited >= (v_taken.verdict = 'open')::integer * 1000 and v_waited >= v_blocks::integer * p_destination.send_timeout_ms then
            return false;
        else
            perform pg_sleep(v_pause / 1000.0);
            v_pause := least(v_pause * 2, 50);
        end if;
    end loop;
end
$$;

-- howdah._has_room(p_destination, p_messages, p_bytes): whether a queue takes that many more messages and bytes of bodies, beside those that are sent.
--
-- Returns  boolean; true where it has no limits.
-- Role     internal
--
-- For what the engine itself puts there: dead messages, copies, reports, and what comes over a bridge. It does not wait.
create or replace function howdah._has_room(p_destination howdah.destinations, p_messages bigint, p_bytes bigint) returns boolean
language plpgsql volatile
as $$
begin
    if p_destination.message_limit is null and p_destination.byte_limit is null then
        return true;
    end if;
    if p_destination.limit_behaviour = 'block' then
        p_destination.limit_behaviour := 'reject';
    end if;
    return howdah._make_room(p_destination, p_messages, p_bytes, 0);
end
$$;

-- howdah._check_room(p_destination, p_messages, p_bytes, p_conversations, p_rank): refuse what a queue has no room for, and what is sent in an ended conversation.
--
-- Raises   HD017 a conversation was ended; HD018 the queue is full; HD027 the engine is.
-- Role     internal
create or replace function howdah._check_room(
    p_destination howdah.destinations, p_messages bigint, p_bytes bigint, p_conversations uuid[], p_rank integer default 0
) returns void
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
    if p_destination.room is null or p_messages = 0 then
        return;
    end if;
    if p_destination.room in ('howdah.system_room'::regclass, 'howdah.no_room'::regclass) then
        perform howdah._check_system(p_messages, p_bytes);
    end if;
    if (p_destination.message_limit is not null or p_destination.byte_limit is not null)
       and not howdah._make_room(p_destination, p_messages, p_bytes, p_rank) then
        raise exception using errcode = 'HD018', message = format('queue %s is full', quote_literal(p_destination.name)),
            hint = format('It takes %s messages and %s bytes at most (options message_limit, byte_limit); wait until some are consumed.',
                coalesce(p_destination.message_limit::text, 'any number of'), coalesce(p_destination.byte_limit::text, 'any number of'));
    end if;
end
$$;

-- howdah._set_room(p_destination_id): have sends look at the limits that hold for a destination now.
--
-- Role     internal
--
-- Its own, for a queue, and the engine's. Where both hold, the quick way of a send is closed by a sequence that never has a value. The largest body is
-- the lesser of both, written here so that a send reads no second row. Who writes own_max_message_bytes calls howdah._hold_limits before, and this after.
create or replace function howdah._set_room(p_destination_id integer) returns void
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_system boolean;
    v_room text := 'room_' || p_destination_id;
    v_tickets regclass;
    v_bytes bigint;
begin
    perform howdah._hold_limits();
    v_system := howdah._system_limited();
    select d.* into v_destination from howdah.destinations d where d.id = p_destination_id;
    if v_destination.message_limit is not null or v_destination.byte_limit is not null then
        v_tickets := coalesce(to_regclass('howdah.tickets_' || p_destination_id), howdah._new_hint('tickets_' || p_destination_id));
        if to_regclass('howdah.' || v_room) is null then
            perform howdah._new_hint(v_room);
        else
            perform howdah._close_room(('howdah.' || v_room)::regclass);
        end if;
        v_room := case when v_system then 'no_room' else v_room end;
    elsif v_system then
        v_tickets := 'howdah.system_tickets';
        v_room := 'system_room';
    else
        v_room := null;
    end if;
    v_bytes := least(v_destination.own_max_message_bytes, (select e.max_message_bytes from howdah.engine e));
    update howdah.destinations d set room = ('howdah.' || v_room)::regclass, tickets = v_tickets, max_message_bytes = v_bytes
    where d.id = p_destination_id and (d.room is distinct from ('howdah.' || v_room)::regclass or d.tickets is distinct from v_tickets
        or d.max_message_bytes <> v_bytes);
end
$$;

-- howdah._hold_limits(): let the engine's limits stay as they are until the transaction ends.
--
-- Role     internal
--
-- howdah.alter_engine waits for a queue being made or altered, or this for it. Called before a destination's row is locked, so that the two do not wait for
-- each other.
create or replace function howdah._hold_limits() returns void
language plpgsql volatile
as $$
begin
    perform from howdah.engine e for key share;
end
$$;

-- howdah._close_room(p_room): let no more tickets be used until it is counted.
--
-- Role     internal
create or replace function howdah._close_room(p_room regclass) returns void
language sql volatile
as $$
    select setval(p_room, ((((coalesce(pg_sequence_last_value(p_room), 0) >> 12) + 1) & 255) << 12) | 4095)
$$;
