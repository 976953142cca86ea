-- howdah._parked_of_lease(p_destination_id, p_lease, p_message_ids): the rows of a lease in parked, locked.
--
-- Returns  ctid and message of each. Messages that somebody else is receiving, because the lease ran out, are left out.
--          So are those that a restart lost.
-- Role     internal
--
-- Until the lease ends, only a call that extends it, gives messages back or acknowledges them can hold its messages;
-- this call waits for that.
create or replace function howdah._parked_of_lease(p_destination_id integer, p_lease bigint, p_message_ids bigint[])
returns table (ctid tid, message howdah.parked)
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_rows tid[];
    v_waited tid[];
begin
    loop  -- a row that was waited for may lie elsewhere by now
        v_rows := case when p_message_ids is null then howdah._lease_rows(p_destination_id, p_lease)
            else howdah._parked_rows(p_destination_id, p_message_ids) end;
        exit when v_rows = v_waited;
        perform from howdah.parked p
        where p.ctid = any (v_rows) and p.lease_id = p_lease and p.parked_reason = 'lease' and p.due_at > howdah.now()
        order by p.message_id for update;
        v_waited := v_rows;
    end loop;
    return query
    select p.ctid, p from howdah.parked p
    where p.ctid = any ((  -- as they lie when this statement begins; a subselect runs once
            select case when p_message_ids is null then howdah._lease_rows(p_destination_id, p_lease)
                else howdah._parked_rows(p_destination_id, p_message_ids) end)::tid[])
      and p.lease_id = p_lease and p.parked_reason = 'lease'
      and (p.boot is null or p.boot = pg_postmaster_start_time())
    order by p.message_id for update skip locked;
end
$$;
