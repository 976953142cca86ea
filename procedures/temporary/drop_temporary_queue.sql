-- howdah.drop_temporary_queue(queue): drop a temporary queue of the caller's connection with its messages.
--
-- Raises   HD001 no such queue; HD005 it is not temporary; HD010 it belongs to another connection; HD030 it has an
--          active consumer: an open transaction that received from it, or a lease.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.drop_temporary_queue(queue text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_queue howdah.temporary_queues;
begin
    select t.* into v_queue from howdah.temporary_queues t where t.destination_id = v_destination.id;
    if not found then
        raise exception using errcode = 'HD005', message = format('%s is no temporary queue', quote_literal(queue)),
            hint = 'An administrator drops queues with howdah.drop_queue(queue).';
    elsif not pg_try_advisory_xact_lock(howdah._lock_key('temporary receiver', v_destination.id::text))
       or exists (select from howdah.parked p where p.destination_id = v_destination.id and p.lease_id is not null
           and p.due_at > howdah.now()) then
        raise exception using errcode = 'HD030', message = format('the temporary queue %s has an active consumer',
            quote_literal(queue)),
            hint = 'End the transaction that receives from it, and its leases, first.';
    elsif not howdah._drop_temporary(v_queue) then
        raise exception using errcode = 'HD001', message = format('there is no queue %s any more',
            quote_literal(queue)),
            hint = 'It ended with its connection, or another session of the connection dropped it.';
    end if;
end
$$;
