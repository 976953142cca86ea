-- howdah._check_temporary(p_destination, p_verb): refuse an operation that is not allowed with a temporary queue.
--
-- Raises   HD001 it or its connection is gone; HD010 it belongs to another connection, or administrators have no right
--          to it.
-- Role     internal
--
-- Anybody may send; only its own connection may receive and browse. A receiver is recorded as alive, and as an active
-- consumer until the transaction ends.
create or replace function howdah._check_temporary(p_destination howdah.destinations, p_verb text) returns void
language plpgsql volatile
as $$
declare
    v_queue howdah.temporary_queues;
    v_mine boolean;
begin
    select t.* into v_queue from howdah.temporary_queues t where t.destination_id = p_destination.id;
    v_mine := v_queue.connection = current_setting('howdah.connection', true);
    if (v_queue.boot = pg_postmaster_start_time() and (v_mine or howdah._connection_lives(v_queue))) is not true
       or p_verb = 'send' and not howdah._hold_temporary(p_destination) then
        raise exception using errcode = 'HD001', message = format('there is no queue %s any more',
            quote_literal(p_destination.name)),
            hint = 'A temporary queue ends with the connection that made it.';
    elsif p_verb = 'send' then
        return;
    elsif p_verb not in ('receive', 'browse') then
        raise exception using errcode = 'HD010', message = format('queue %s is temporary: it is not managed',
            quote_literal(p_destination.name)),
            hint = 'Only its own connection can drop it, with howdah.drop_temporary_queue(queue).';
    elsif v_mine is not true then
        raise exception using errcode = 'HD010',
            message = format('the temporary queue %s belongs to another connection', quote_literal(p_destination.name)),
            hint = 'Only the connection that made it receives from it; see howdah.set_connection.';
    elsif p_verb = 'receive' then
        perform pg_advisory_xact_lock_shared(howdah._lock_key('temporary receiver', p_destination.id::text));
        if howdah._silent_ms(v_queue.alive) > 1000 then
            perform howdah._note_alive(v_queue.alive);
        end if;
    end if;
end
$$;
