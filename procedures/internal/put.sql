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
    if p_notify then
        perform howdah._wake(d.id, d.waiting) from howdah.destinations d where d.id = p_message.destination_id;
    end if;
end
$$;

-- howdah._park(p_message, p_nonpersistent, p_due_at, p_reason): store a message that waits for a time.
--
-- Role     internal
create or replace function howdah._park(p_message howdah.msgs, p_nonpersistent boolean, p_due_at timestamptz, p_reason text)
returns void
language plpgsql volatile
as $$
begin
    perform howdah._open_lane(p_message.destination_id, p_message.rank, 0);
    insert into howdah.parked
    select (p_message).*, p_due_at, p_reason, case when p_nonpersistent then pg_postmaster_start_time() end;
end
$$;
