-- howdah._find(p_destination_id, p_message_id, p_priority, p_position): find a message of a destination, and lock it if
-- it is free.
--
-- Returns  one row: the message, its place, whether it is non-persistent, and whether it is free. The place is msgs,
--          msgs_nonpersistent, parked or topic; NULL: it is not there. A free message is locked now. Another
--          transaction or a lease has one that is not free.
-- Role     internal
--
-- The lookup is by key. The position is given, or follows from the message's id; for a moved message it is in the
-- table moved. Each priority and position is looked up on its own: PostgreSQL up to 16 would filter by an array, and
-- read the whole queue.
create or replace function howdah._find(
    p_destination_id integer, p_message_id bigint, p_priority integer, p_position bigint
)
returns table (message howdah.msgs, place text, nonpersistent boolean, free boolean)
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_ranks smallint[] := case when p_priority between 0 and 9 then array[9 - p_priority]
        else array[0, 1, 2, 3, 4, 5, 6, 7, 8, 9] end;
    v_seqs bigint[] := case when p_position is null then howdah._positions(p_destination_id, p_message_id)
        else array[p_position] end;
    v_locked tid;
    v_row record;
begin
    for v_look in 1..2 loop  -- while the first went on, the message may have come back to a table it had left
        if p_priority between 0 and 9 and p_position is not null then
            select m as message, m.ctid as tid into v_row from howdah.msgs m
            where m.destination_id = p_destination_id and m.rank = v_ranks[1] and m.seq = p_position
              and m.message_id = p_message_id;
        else
            select k.message, k.tid into v_row
            from unnest(v_ranks) r(rank) cross join unnest(v_seqs) s(seq) cross join lateral (
                select m as message, m.ctid as tid from howdah.msgs m
                where m.destination_id = p_destination_id and m.rank = r.rank and m.seq = s.seq
                  and m.message_id = p_message_id offset 0) k;
        end if;
        if v_row.tid is not null then
            select m.ctid into v_locked from howdah.msgs m
            where m.ctid = v_row.tid and m.message_id = p_message_id for update skip locked;
            return query select v_row.message, 'msgs', false, v_locked is not null;
            return;
        end if;
        if exists (select from howdah.leases l where l.destination_id = p_destination_id)
           and exists (select from howdah.leased m
                       where m.destination_id = p_destination_id and m.message_id = p_message_id) then
            perform howdah._return_leases(p_destination_id, null, howdah.now(), null, array[p_message_id]);
            select m as message into v_row from howdah.leased m
            where m.destination_id = p_destination_id and m.message_id = p_message_id;
            if found then
                return query select howdah._unleased(v_row.message), 'parked', false, false;
                return;
            end if;
        end if;
        select p as message, p.ctid as tid, p.boot is not null as nonpersistent into v_row from howdah.parked p
        where p.ctid = any (howdah._parked_rows(p_destination_id, array[p_message_id]));
        if found then
            select p.ctid into v_locked from howdah.parked p
            where p.ctid = v_row.tid and p.message_id = p_message_id
              and (p.parked_reason <> 'lease' or p.due_at <= howdah.now())
            for update skip locked;
            return query select howdah._as_ready(v_row.message),
                'parked', v_row.nonpersistent, v_locked is not null;
            return;
        end if;
        select k.message, k.tid into v_row
        from unnest(v_ranks) r(rank) cross join unnest(v_seqs) s(seq) cross join lateral (
            select n as message, n.ctid as tid from howdah.msgs_nonpersistent n
            where n.destination_id = p_destination_id and n.rank = r.rank and n.seq = s.seq
              and n.message_id = p_message_id and n.boot = pg_postmaster_start_time() offset 0) k;
        if v_row.tid is not null then
            select n.ctid into v_locked from howdah.msgs_nonpersistent n
            where n.ctid = v_row.tid and n.message_id = p_message_id for update skip locked;
            return query select howdah._as_ready(v_row.message), 'msgs_nonpersistent', true, v_locked is not null;
            return;
        end if;
    end loop;
    return query select * from howdah._find_published(p_destination_id, p_message_id);
end
$$;
