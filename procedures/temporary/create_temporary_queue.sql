-- howdah.create_temporary_queue(): create a queue for answers that ends with the caller's connection.
--
-- Returns  its name (text), to be sent along as reply_to.
-- Raises   HD002 no room for another queue; HD010 called from a maintenance command; HD040 the engine is quiesced or
--          stopped; HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- The connection is the one named by howdah.set_connection. Without that it is the database session, and the queue is
-- gone as soon as the session ends.
--
-- Only its own connection receives from it; anybody who may send at all may send to it. All its messages are
-- non-persistent, and a restart of the server ends it. It is not listed, and administrators can neither change nor drop
-- it.
--
-- The number, sequences and grants of an ended temporary queue are used again, if no transaction that sends to it is
-- still open. So connections that come and go cost no catalog entries.
create or replace function howdah.create_temporary_queue() returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_connection text := nullif(current_setting('howdah.connection', true), '');
    v_name text := '_TEMP.' || replace(gen_random_uuid()::text, '-', '');
    v_free howdah.temporary_queues;
begin
    perform howdah._check_engine('{quiesced,stopped}');
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
    update howdah.temporary_queues t set connection = v_connection, boot = pg_postmaster_start_time(),
        life = nextval(t.lives)
    where t.destination_id = v_free.destination_id;
    update howdah.destinations d set name = v_name, dropped_at = null, created_at = howdah.now(),
        created_by = howdah._caller()
    where d.id = v_free.destination_id;
    return v_name;
end
$$;
