-- howdah._put(p_message, p_nonpersistent): store a message ready for delivery.
--
-- Role     internal
create or replace function howdah._put(p_message howdah.msgs, p_nonpersistent boolean) returns void
language plpgsql volatile
as $$
begin
    if p_nonpersistent then
        update howdah.destinations d set nonpersistent_seen = true
        where d.id = p_message.destination_id and not d.nonpersistent_seen;
        insert into howdah.msgs_nonpersistent select (p_message).*, pg_postmaster_start_time();
    else
        insert into howdah.msgs select (p_message).*;
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
    update howdah.destinations d set parked_seen = true where d.id = p_message.destination_id and not d.parked_seen;
    insert into howdah.parked
    select (p_message).*, p_due_at, p_reason, case when p_nonpersistent then pg_postmaster_start_time() end;
end
$$;
