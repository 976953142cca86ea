-- howdah._find(p_destination_id, p_message_id, p_priority, p_position): where a message of a destination lies, and lock it if it is free.
--
-- Returns  one row: the message, its place (msgs, msgs_nonpersistent or parked or topic; NULL: not there), whether it is non-persistent, whether
--          it is free and so locked now (false: another transaction or a lease has it).
-- Role     internal
--
-- By key where priority and position are known or the message never moved, which is the rule; else by a search.
create or replace function howdah._find(p_destination_id integer, p_message_id bigint, p_priority integer, p_position bigint)
returns table (message howdah.msgs, place text, nonpersistent boolean, free boolean)
language plpgsql volatile
as $$
declare
    v_ranks smallint[] := case when p_priority is null then array[0, 1, 2, 3, 4, 5, 6, 7, 8, 9] else array[9 - p_priority] end;
    v_seq bigint := coalesce(p_position, case when p_message_id % 1000000 = p_destination_id then p_message_id / 1000000 end);
    v_locked tid;
    v_row record;
begin
    select m as message, m.ctid as tid into v_row from howdah.msgs m
    where m.destination_id = p_destination_id and m.rank = any (v_ranks) and m.seq = v_seq and m.message_id = p_message_id;
    if not found and p_position is null then
        select m as message, m.ctid as tid into v_row from howdah.msgs m
        where m.destination_id = p_destination_id and m.message_id = p_message_id;
    end if;
    if v_row.tid is not null then
        select m.ctid into v_locked from howdah.msgs m
        where m.ctid = v_row.tid and m.message_id = p_message_id for update skip locked;
        return query select v_row.message, 'msgs', false, v_locked is not null;
        return;
    end if;
    select p as message, p.ctid as tid, p.boot is not null as nonpersistent into v_row from howdah.parked p
    where p.destination_id = p_destination_id and p.message_id = p_message_id;
    if found then
        select p.ctid into v_locked from howdah.parked p
        where p.ctid = v_row.tid and p.message_id = p_message_id and (p.lease_id is null or p.due_at <= howdah.now()) for update skip locked;
        return query select howdah._as_ready(v_row.message),
            'parked', v_row.nonpersistent, v_locked is not null;
        return;
    end if;
    select n as message, n.ctid as tid into v_row from howdah.msgs_nonpersistent n
    where n.destination_id = p_destination_id and n.rank = any (v_ranks) and n.seq = v_seq and n.message_id = p_message_id
      and n.boot = pg_postmaster_start_time();
    if not found and p_position is null then
        select n as message, n.ctid as tid into v_row from howdah.msgs_nonpersistent n
        where n.destination_id = p_destination_id and n.message_id = p_message_id and n.boot = pg_postmaster_start_time();
    end if;
    if v_row.tid is not null then
        select n.ctid into v_locked from howdah.msgs_nonpersistent n
        where n.ctid = v_row.tid and n.message_id = p_message_id for update skip locked;
        return query select howdah._as_ready(v_row.message), 'msgs_nonpersistent', true, v_locked is not null;
        return;
    end if;
    return query select * from howdah._find_published(p_destination_id, p_message_id);
end
$$;
