-- howdah._make_room(p_destination, p_messages, p_bytes, p_rank, p_level, p_waits): make room in a queue for messages
-- about to be sent, by the queue's limit_behaviour.
--
-- Returns  true if they may be sent within the caller's transaction; false if the queue is full.
-- Role     internal
--
-- With any behaviour, it waits up to a second for open transactions if only their uncommitted messages make the queue
-- full. Two senders that wait for each other are both told that the queue is full. Without p_waits, such a queue counts
-- as full at once.
--
-- If the limit is at least 1,024 messages or 1 MiB, it removes a 128th of the limit more than needed. So not every
-- message needs a count. p_rank is the highest rank of the messages: 9 minus the lowest priority.
--
-- Best-effort messages go first, with any behaviour. p_level is the level of the messages to come. Best-effort ones
-- replace none of another level. They replace best-effort ones only where the behaviour removes messages.
create or replace function howdah._make_room(
    p_destination howdah.destinations, p_messages bigint, p_bytes bigint, p_rank integer, p_level smallint,
    p_waits boolean default true
) returns boolean
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
    v_anew boolean := v_removes;
    v_messages bigint;
    v_bytes bigint;
begin
    if p_messages > p_destination.message_limit or p_bytes > p_destination.byte_limit then
        return false;
    end if;
    loop
        select t.* into v_taken from howdah._reserve_after_count(p_destination.id, v_room, p_destination.tickets,
            p_destination.message_limit, p_destination.byte_limit, array[100], p_messages, p_bytes, v_anew) t;
        if v_taken.verdict = 'taken' then
            return true;
        end if;
        v_waited := case when p_waits then extract(epoch from clock_timestamp() - v_begun) * 1000 else 1000 end;
        if v_taken.verdict = 'full' or v_waited >= 1000 then
            v_messages := greatest(v_taken.over_messages, (v_taken.verdict = 'open')::integer)
                + case when v_taken.over_messages > 0 and p_destination.message_limit >= 1024
                       then p_destination.message_limit >> 7 else 0 end;
            v_bytes := v_taken.over_bytes
                + case when v_taken.over_bytes > 0 and p_destination.byte_limit >= 1048576
                       then p_destination.byte_limit >> 7 else 0 end;
            if (p_level > 0 or v_removes)
               and howdah._evict_best_effort(p_destination.id, v_messages, v_bytes, case
                   when p_level = 0 and p_destination.limit_behaviour = 'remove_lowest_priority' then p_rank end) > 0
            then
                v_anew := true;  -- a count that found it full is over
                continue;
            end if;
        end if;
        if v_removes and (v_taken.verdict = 'full' or v_waited >= 1000) then
            if p_level = 0 or not howdah._evict(p_destination, v_messages, v_bytes, p_rank) then
                return false;
            end if;
        elsif v_waited >= (v_taken.verdict = 'open')::integer * 1000
           and v_waited >= v_blocks::integer * p_destination.send_timeout_ms then
            return false;
        else
            perform pg_sleep(v_pause / 1000.0);
            v_pause := least(v_pause * 2, 50);
        end if;
    end loop;
end
$$;
