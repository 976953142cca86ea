-- howdah._discard_of_gone(p_destination_id): discard what senders whose connections ended have left in a destination
-- with discard_with_sender.
--
-- Returns  how many messages (bigint).
-- Role     internal
--
-- Each receive there calls it, so no receive delivers the messages of a connection that is known to have ended. It
-- steps from sender to sender, whatever the number of their messages.
create or replace function howdah._discard_of_gone(p_destination_id integer) returns bigint
language plpgsql volatile set enable_seqscan = off set enable_bitmapscan = off
    set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
    v_destination howdah.destinations;
    v_gone bigint[];
    v_last record;
    v_sender bigint := -9223372036854775808;
begin
    if pg_sequence_last_value('howdah.senders_noted'::regclass) is null then
        return 0;
    end if;
    select d.* into v_destination from howdah.destinations d where d.id = p_destination_id and d.discard_with_sender;
    if not found then
        return 0;
    end if;
    loop
        select b.sender into v_sender from howdah.sent_by b
        where b.destination_id = p_destination_id and b.sender > v_sender order by b.sender limit 1;
        exit when not found;
        select b.own_session, b.sent_at into v_last from howdah.sent_by b
        where b.destination_id = p_destination_id and b.sender = v_sender order by b.message_id desc limit 1;
        if howdah._is_gone(v_sender, v_last.own_session, v_last.sent_at) then
            v_gone := v_gone || v_sender;
        end if;
    end loop;
    return case when v_gone is not null then howdah._discard_sent(v_destination, v_gone) else 0 end;
end
$$;
