-- howdah._hold_temporary(p_destination): prevent the next use of a temporary queue's number until this sending
-- transaction ends.
--
-- Returns  boolean; false if the queue is gone.
-- Role     internal
--
-- The number of a dropped queue goes to another connection, which must never get a message sent to this one. A
-- transaction with an old snapshot still sees the former owner's queue; the sequence reveals it.
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
