-- howdah.create_temporary_queue(): create a queue for answers that ends with the caller's connection.
--
-- Returns  its name (text), to be sent along as reply_to.
-- Raises   HD002 no room for one more queue; HD010 called out of a maintenance command.
-- Role     howdah_consumer howdah_admin
--
-- The connection is the one that howdah.set_connection named; without that the database session, and then the queue is gone at once when
-- the session ends. Only its own connection receives from it, anybody who may send at all sends to it. All its messages are non-persistent; a restart
-- of the server ends it. It is not listed, nor can administrators change or drop it.
--
-- The number, the sequences and the grants of an ended one are used again, if no transaction that sends to it is still open: so the
-- connections that come and go cost no catalog entries.
create or replace function howdah.create_temporary_queue() returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_connection text := nullif(current_setting('howdah.connection', true), '');
    v_name text := '_TEMP.' || replace(gen_random_uuid()::text, '-', '');
    v_free howdah.temporary_queues;
begin
    perform howdah._refuse_maintenance();
    if v_connection is null then
        v_connection := 's-' || gen_random_uuid();
        perform pg_advisory_lock(hashtextextended(v_connection, 1213154392));
        perform set_config('howdah.connection', v_connection, false);
    end if;
    v_free := howdah._free_temporary();
    if v_free.destination_id is null then
        v_free := howdah._new_temporary();
    else
        perform howdah._clear_temporary(v_free.destination_id);
    end if;
    perform howdah._note_alive(v_free.alive);
    update howdah.temporary_queues t set connection = v_connection, boot = pg_postmaster_start_time(), life = nextval(t.lives)
    where t.destination_id = v_free.destination_id;
    update howdah.destinations d set name = v_name, dropped_at = null, created_at = howdah.now(), created_by = howdah._caller()
    where d.id = v_free.destination_id;
    return v_name;
end
$$;

-- howdah._free_temporary(): one of the temporary queues that ended, which no transaction uses any more.
--
-- Returns  howdah.temporary_queues; its destination_id is NULL if a look at ten has found none.
-- Role     internal
create or replace function howdah._free_temporary() returns howdah.temporary_queues
language plpgsql volatile set enable_seqscan = off
as $$
declare
    v_free howdah.temporary_queues;
    v_last integer := 0;
begin
    for v_try in 1..10 loop
        select t.* into v_free from howdah.temporary_queues t
        where t.connection is null and t.destination_id > v_last
        order by t.connection, t.destination_id limit 1 for update skip locked;
        if not found or pg_try_advisory_xact_lock(howdah._lock_key('temporary sender', v_free.destination_id::text))
            and pg_try_advisory_xact_lock(howdah._lock_key('temporary receiver', v_free.destination_id::text)) then
            return v_free;
        end if;
        v_last := v_free.destination_id;
    end loop;
    return null;
end
$$;

-- howdah._new_temporary(): make the destination of a temporary queue, with its sequences.
--
-- Returns  howdah.temporary_queues.
-- Raises   HD002 no room for one more queue, or 100,000 temporary ones.
-- Role     internal
create or replace function howdah._new_temporary() returns howdah.temporary_queues
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._new_destination('_TEMP.' || gen_random_uuid());
    v_queue howdah.temporary_queues;
begin
    if (select count(*) >= 100000 from howdah.temporary_queues) then
        raise exception using errcode = 'HD002', message = 'there are 100,000 temporary queues, and none of them is free',
            hint = 'End connections that need theirs no longer: howdah.close_connection().';
    end if;
    v_destination.persistent := false;
    v_destination.journal_level := 'off';
    v_destination.exception_mode := 'none';
    v_destination.max_failed_deliveries := 0;
    v_destination.dispose_at := 1000000;
    v_queue.destination_id := howdah._add_destination(v_destination);
    v_queue.alive := howdah._new_hint('alive_' || v_queue.destination_id);
    v_queue.lives := howdah._new_hint('lives_' || v_queue.destination_id);
    insert into howdah.temporary_queues select v_queue.*;
    perform howdah._open_lane(v_queue.destination_id, 9 - v_destination.default_priority, 1);
    return v_queue;
end
$$;
