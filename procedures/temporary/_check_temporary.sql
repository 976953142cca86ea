-- howdah._check_temporary(p_destination, p_verb): refuse what may not be done with a temporary queue.
--
-- Raises   HD001 it is gone, or its connection; HD010 it belongs to another connection, or administrators have no say in it.
-- Role     internal
--
-- Sending is anybody's, receiving and browsing its own connection's. Who receives is noted as alive, and until the transaction ends as
-- an active consumer.
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
        raise exception using errcode = 'HD001', message = format('there is no queue %s any more', quote_literal(p_destination.name)),
            hint = 'A temporary queue ends with the connection that made it.';
    elsif p_verb = 'send' then
        return;
    elsif p_verb not in ('receive', 'browse') then
        raise exception using errcode = 'HD010', message = format('queue %s is temporary: it is not managed', quote_literal(p_destination.name)),
            hint = 'Only its own connection can drop it, with howdah.drop_temporary_queue(queue).';
    elsif v_mine is not true then
        raise exception using errcode = 'HD010', message = format('the temporary queue %s belongs to another connection', quote_literal(p_destination.name)),
            hint = 'Only the connection that made it receives from it; see howdah.set_connection.';
    elsif p_verb = 'receive' then
        perform pg_advisory_xact_lock_shared(howdah._lock_key('temporary receiver', p_destination.id::text));
        if howdah._silent_ms(v_queue.alive) > 1000 then
            perform howdah._note_alive(v_queue.alive);
        end if;
    end if;
end
$$;

-- howdah._connection_lives(p_queue): whether the connection that a temporary queue belongs to is there.
--
-- Returns  boolean; NULL: the queue is free.
-- Role     internal
--
-- A database session holds a lock for as long as it lives, so its end is seen at once. Of any other connection something was heard
-- within a minute. The caller's own session holds its lock too, which this cannot see.
create or replace function howdah._connection_lives(p_queue howdah.temporary_queues) returns boolean
language sql volatile
as $$
    select case
        when p_queue.boot is distinct from pg_postmaster_start_time() then false
        when p_queue.connection ^@ 's-' then not pg_try_advisory_xact_lock_shared(hashtextextended(p_queue.connection, 1213154392))
        else howdah._silent_ms(p_queue.alive) <= 60000 end
    where p_queue.connection is not null
$$;

-- howdah._hold_temporary(p_destination): keep a temporary queue's number from its next use until this transaction, which sends, has ended.
--
-- Returns  boolean; false: the queue is gone.
-- Role     internal
--
-- The number of a queue that was dropped goes to another connection, which must never get a message that was sent to this one. A transaction
-- with an old snapshot still sees the former owner's queue; the sequence tells.
create or replace function howdah._hold_temporary(p_destination howdah.destinations) returns boolean
language plpgsql volatile
as $$
begin
    perform pg_advisory_xact_lock_shared(howdah._lock_key('temporary sender', p_destination.id::text));
    return exists (select from howdah.destinations d join howdah.temporary_queues t on t.destination_id = d.id
                   where d.id = p_destination.id and d.name = p_destination.name and d.dropped_at is null
                     and t.life = pg_sequence_last_value(t.lives));
end
$$;

-- howdah._clear_temporary(p_id): throw away what lies in a temporary queue that is gone; nobody is left to read it.
--
-- Role     internal
create or replace function howdah._clear_temporary(p_id integer) returns void
language plpgsql volatile set enable_seqscan = off
as $$
begin
    delete from howdah.msgs_nonpersistent n where n.ctid = any (array(
        select c.ctid from howdah.msgs_nonpersistent c where c.destination_id = p_id for update skip locked));
    delete from howdah.parked p where p.ctid = any (array(
        select c.ctid from howdah.parked c where c.destination_id = p_id for update skip locked));
end
$$;

-- howdah._drop_temporary(p_queue): end a temporary queue; its number waits for its next use.
--
-- Returns  boolean; false: somebody else did, and the number may have another owner by now.
-- Role     internal
create or replace function howdah._drop_temporary(p_queue howdah.temporary_queues) returns boolean
language plpgsql volatile
as $$
begin
    update howdah.temporary_queues t set connection = null
    where t.destination_id = p_queue.destination_id and t.connection = p_queue.connection and t.life = p_queue.life;
    if not found then
        return false;
    end if;
    update howdah.destinations d set dropped_at = howdah.now() where d.id = p_queue.destination_id;
    delete from howdah.listeners l where l.destination_id = p_queue.destination_id;
    perform howdah._clear_temporary(p_queue.destination_id);
    return true;
end
$$;
