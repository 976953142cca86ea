-- howdah._expire_leases(p_subscription_id): make topic messages whose lease ran out unread again, and record that it
-- did.
--
-- Role     internal
--
-- It runs in the receiver's transaction, and skips messages for which another transaction is doing the same.
create or replace function howdah._expire_leases(p_subscription_id integer) returns void
language plpgsql volatile
as $$
declare
    v_row record;
begin
    for v_row in
        with gone as (
            delete from howdah.acked d
            where d.ctid = any (array(
                select c.ctid from howdah.acked c join howdah.acks a on a.id = c.ack_id
                where a.subscription_id = p_subscription_id and c.lease_id is not null
                  and c.leased_until <= howdah.now() for update of c skip locked))
            returning d.ack_id, d.seq, d.lease_id
        )
        select g.* from gone g order by g.lease_id, g.seq
    loop
        perform howdah._record_lease_incident(p_subscription_id, v_row.seq * 1000000 + a.destination_id, 0::smallint,
            l.conversation_id, howdah._group(l.headers, l.conversation_id), v_row.lease_id)
        from howdah.acks a
        join howdah.subscriptions s on s.destination_id = a.subscription_id
        -- an expired message is not there; then nothing needs to be recorded for it
        left join lateral howdah._locate(s, a, array[v_row.seq]) l on true
        where a.id = v_row.ack_id;
    end loop;
end
$$;
