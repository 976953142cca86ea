-- howdah._end_leases_of(p_destination_id, p_leases, p_now): end the leases of consumers whose sessions have ended.
--
-- Role     internal
--
-- Their messages count as delivered and failed, as at the end of any lease. A message that somebody is nevertheless
-- acknowledging stays with that call.
create or replace function howdah._end_leases_of(
    p_destination_id integer, p_leases bigint[], p_now timestamptz
) returns void
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
begin
    update howdah.parked p set due_at = p_now
    where p.ctid = any (array(
        select c.ctid from howdah.parked c
        where c.destination_id = p_destination_id and c.lease_id = any (p_leases) and c.parked_reason = 'lease'
          and c.due_at > p_now
        for update skip locked));
    update howdah.acked d set leased_until = p_now
    where d.ctid = any (array(
        select c.ctid from howdah.acks a join howdah.acked c on c.ack_id = a.id
        where a.subscription_id = p_destination_id and c.lease_id = any (p_leases) and c.leased_until > p_now
        for update of c skip locked));
    perform howdah._wake(d.id, d.waiting) from howdah.destinations d
    where d.id = p_destination_id and pg_sequence_last_value(d.waiting) is not null;
end
$$;
