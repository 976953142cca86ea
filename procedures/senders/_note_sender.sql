-- howdah._note_sender(p_destination, p_message_ids, p_priorities, p_level): record the sender of messages that are
-- discarded when their sender is gone.
--
-- Role     internal
--
-- The caller has seen discard_with_sender. Best-effort and express messages are discarded; others stay.
create or replace function howdah._note_sender(
    p_destination howdah.destinations, p_message_ids bigint[], p_priorities integer[], p_level smallint
) returns void
language plpgsql volatile
as $$
declare
    v_sender record;
begin
    if p_level > 1 then
        return;
    end if;
    v_sender := howdah._sender();
    if pg_sequence_last_value('howdah.senders_noted'::regclass) is null then
        perform nextval('howdah.senders_noted'::regclass);
    end if;
    insert into howdah.sent_by (destination_id, sender, message_id, own_session, rank, xid, reliability, sent_at)
    select p_destination.id, v_sender.sender, m.id, v_sender.own_session,
        9 - coalesce(m.priority, p_destination.default_priority), pg_current_xact_id(), howdah._stored_level(p_level),
        howdah.now()
    from unnest(p_message_ids, p_priorities) m(id, priority);
end
$$;
