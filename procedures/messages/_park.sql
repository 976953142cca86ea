-- howdah._park(p_message, p_nonpersistent, p_due_at, p_reason): store a message that waits until a given time.
--
-- Role     internal
create or replace function howdah._park(
    p_message howdah.msgs, p_nonpersistent boolean, p_due_at timestamptz, p_reason text
)
returns void
language plpgsql volatile
as $$
begin
    perform howdah._open_lane(p_message.destination_id, p_message.rank, 0);
    insert into howdah.parked
    select (p_message).*, p_due_at, p_reason, case when p_nonpersistent then pg_postmaster_start_time() end, null,
        case when p_reason in ('redelivery', 'blocked', 'quarantine') and d.message_groups <> 'none'
            then howdah._group(p_message.headers, p_message.conversation_id) end
    from howdah.destinations d where d.id = p_message.destination_id;
end
$$;
