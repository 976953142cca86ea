-- howdah._blame_leases(p_destination_id, p_rows): record that leases ran out, before their messages are received again.
--
-- Role     internal
--
-- It runs in the receiver's transaction. If that rolls back, the next receiver does it again. The key is made of lease
-- and message, so there is one incident.
create or replace function howdah._blame_leases(p_destination_id integer, p_rows howdah.parked[]) returns void
language plpgsql volatile
as $$
declare
    v_row howdah.parked;
begin
    for v_row in select r.* from unnest(p_rows) r order by r.lease_id, r.rank, r.seq loop
        perform howdah._record_lease_incident(p_destination_id, v_row.message_id, v_row.stage, v_row.conversation_id,
            howdah._group(v_row.headers, v_row.conversation_id), v_row.lease_id);
    end loop;
end
$$;
