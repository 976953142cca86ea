-- howdah.settle_failures(queue, message_ids, priorities, positions): apply the queue's policy to messages whose
-- failures were recorded in hand.
--
-- Returns  message_id and what was done: returned, delayed, blocked, moved, discarded, quarantined or ended. held:
--          another session has it, and its next receive decides. gone: it is no longer there.
-- Raises   HD001 no such queue; HD005 the arrays differ in length; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- Call it either in the transaction that holds the messages by howdah.receive_locked, or after the receiving
-- transaction was rolled back. A message without recorded failures is left as it is. A delay that its last failure
-- asked for overrides the queue's.
--
-- Leaving this call out loses nothing. The next receive that finds a message deals with it if it was rejected, is at
-- its limit or must wait.
create or replace function howdah.settle_failures(
    queue text, message_ids bigint[], priorities integer[], positions bigint[]
)
returns table (message_id bigint, outcome text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_wanted record;
    v_found record;
    v_standing record;
begin
    if cardinality(message_ids) is distinct from cardinality(priorities)
       or cardinality(message_ids) is distinct from cardinality(positions) then
        raise exception using errcode = 'HD005',
            message = 'message_ids, priorities and positions must be of equal length';
    end if;
    perform howdah._commit_needs(4);
    for v_wanted in
        select w.message_id, w.priority, w.seq
        from unnest(message_ids, priorities, positions) w(message_id, priority, seq) order by w.message_id
    loop
        message_id := v_wanted.message_id;
        outcome := 'gone';
        select * into v_found
        from howdah._find(v_destination.id, v_wanted.message_id, v_wanted.priority, v_wanted.seq);
        if v_found.place is not null then
            outcome := 'held';
        end if;
        if v_found.free then
            outcome := 'returned';
            select * into v_standing
            from howdah._standing(v_destination.id, v_wanted.message_id, (v_found.message).stage,
                (v_found.message).conversation_id,
                howdah._group((v_found.message).headers, (v_found.message).conversation_id), null);
            if v_standing.failures > 0 then
                outcome := howdah._delay_or_dispose(v_destination, v_found.message, v_found.place,
                    v_found.nonpersistent, v_standing.weight, v_standing.delay_ms, v_standing.due_at);
            end if;
        end if;
        return next;
    end loop;
end
$$;
