-- howdah._put(p_message, p_nonpersistent, p_notify): store a message ready for delivery.
--
-- Role     internal
create or replace function howdah._put(p_message howdah.msgs, p_nonpersistent boolean, p_notify boolean) returns void
language plpgsql volatile
as $$
begin
    if p_nonpersistent then
        perform howdah._open_lane(p_message.destination_id, p_message.rank, 1);
        insert into howdah.msgs_nonpersistent select (p_message).*, pg_postmaster_start_time();
    else
        perform howdah._open_lane(p_message.destination_id, p_message.rank, 2);
        insert into howdah.msgs select (p_message).*;
    end if;
    if p_message.message_id <> p_message.seq * 1000000 + p_message.destination_id then
        insert into howdah.moved (message_id, seq, destination_id, rank)
        values (p_message.message_id, p_message.seq, p_message.destination_id, p_message.rank)
        on conflict on constraint pk_moved do nothing;
    end if;
    if p_notify then
        perform howdah._wake(d.id, d.waiting) from howdah.destinations d where d.id = p_message.destination_id;
    end if;
end
$$;
