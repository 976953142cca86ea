-- howdah._remove(p_message, p_place): delete the stored row of a message that the caller has locked, or set it aside in
-- its topic.
--
-- Role     internal
create or replace function howdah._remove(p_message howdah.msgs, p_place text) returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
begin
    if p_place = 'msgs' then
        delete from howdah.msgs m
        where m.destination_id = p_message.destination_id and m.rank = p_message.rank and m.seq = p_message.seq;
    elsif p_place = 'msgs_nonpersistent' then
        delete from howdah.msgs_nonpersistent n
        where n.destination_id = p_message.destination_id and n.rank = p_message.rank and n.seq = p_message.seq;
    elsif p_place = 'topic' then
        perform howdah._set_aside(p_message.destination_id, p_message.message_id);
    else
        delete from howdah.parked p
        where p.ctid = any (howdah._parked_rows(p_message.destination_id, array[p_message.message_id]));
    end if;
end
$$;
