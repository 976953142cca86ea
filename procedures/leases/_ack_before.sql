-- howdah._ack_before(p_queue, p_lease): acknowledge the lease named by a call that leases the next messages.
--
-- Raises   HD005 the queue is a wildcard; others as howdah.ack.
-- Role     internal
create or replace function howdah._ack_before(p_queue text, p_lease bigint) returns void
language plpgsql volatile
as $$
begin
    if p_queue ~ '[*>]' and strpos(p_queue, ':') = 0
       and not exists (select from howdah.destinations d where d.name = p_queue and d.dropped_at is null) then
        raise exception using errcode = 'HD005',
            message = format('a lease of wildcard %s cannot acknowledge another one', quote_literal(p_queue)),
            hint = 'Call howdah.ack(queue_name, lease) before it, in the same transaction.';
    end if;
    perform howdah.ack(p_queue, p_lease);
end
$$;
