-- howdah._take_one_of_group(p_id, p_rank, p_head, p_headed): the fast path for one message of a queue with transaction
-- groups.
--
-- Returns  the message, deleted; NULL if the slow path must look: there is more to look at than groups, or no message
--          can be taken.
-- Role     internal
--
-- It uses two statements. The first skips what other transactions hold, or held and returned (xmax), and what waits
-- behind a parked message. It tries the locks of the other messages' groups. It may see older rows than the lock
-- allows, so the second looks for an earlier message of the group, ready or waiting. For one that was put back
-- meanwhile, the head was set back (howdah._walk_back). The group's lock keeps other receivers from the message.
--
-- One call in thirty, and each that finds nothing, also looks for returned messages. It locks these, and messages
-- without a group, first (howdah._claim_one_of_group).
create or replace function howdah._take_one_of_group(
    p_id integer, p_rank smallint, p_head regclass, p_headed bigint
) returns howdah.msgs
language plpgsql volatile
as $$
declare
    v_message howdah.msgs;
    v_seq bigint;
    v_group text;
begin
    if not howdah._is_plain(p_id, 'transaction') then
        return null;
    end if;
    -- as in howdah._walk_from
    p_headed := case when howdah._hint(to_regclass('howdah.mark_' || p_id)) >> 32 = 0 then 0
        else howdah._hint(p_head) end;
    if random() < 0.97 then
        select m.seq, howdah._group(m.headers, m.conversation_id) as group_id into v_seq, v_group
        from howdah.msgs m
        where m.destination_id = p_id and m.rank = p_rank and m.seq > p_headed and m.xmax = 0
          and case when not exists (select from howdah.parked p
                  where p.destination_id = p_id and p.group_id = howdah._group(m.headers, m.conversation_id)
                    and p.seq < m.seq)
              then howdah._lock_group(p_id, howdah._group(m.headers, m.conversation_id)) is not false end
        order by m.seq limit 1;
    end if;
    if v_group is not null then
        delete from howdah.msgs m
        where m.destination_id = p_id and m.rank = p_rank and m.seq = v_seq and m.xmax = 0
          and not exists (select from howdah.msgs b
                          where b.destination_id = p_id and b.rank = p_rank
                            and b.seq > (select least(p_headed, howdah._hint(p_head))) and b.seq < v_seq
                            and howdah._group(b.headers, b.conversation_id) = v_group)
          and not exists (select from howdah.parked p where p.destination_id = p_id and p.group_id = v_group)
        returning m.* into v_message;
    else
        v_seq := howdah._claim_one_of_group(row(0, p_id, p_rank, 2, p_head, null)::howdah.lanes, null, p_headed, true);
        delete from howdah.msgs m where m.destination_id = p_id and m.rank = p_rank and m.seq = v_seq
        returning m.* into v_message;
    end if;
    return v_message;
end
$$;
