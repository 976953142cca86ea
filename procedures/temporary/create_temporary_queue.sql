-- howdah.create_temporary_queue(): create a queue for answers that ends with the caller's connection.
--
-- Returns  its name (text), to be sent along as reply_to.
-- Raises   HD002 no room for one more queue; HD010 called out of a maintenance command.
-- Role     howdah_consumer howdah_admin
--
-- The connection is the one that howdah.set_connection named; without that the database session, and then the queue is
-- gone at once when the session ends. Only its own connection receives from it, anybody who may send at all sends to
-- it. All its messages are non-persistent; a restart of the server ends it. It is not listed, nor can administrators
-- change or drop it.
--
-- The number, the sequences and the grants of an ended one are used again, if no transaction that sends to it is still
-- open: so the connections that come and go cost no catalog entries.
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
    update howdah.temporary_queues t set connection = v_connection, boot = pg_postmaster_start_time(),
        life = nextval(t.lives)
    where t.destination_id = v_free.destination_id;
    update howdah.destinations d set name = v_name, dropped_at = null, created_at = howdah.now(),
        created_by = howdah._caller()
    where d.id = v_free.destination_id;
    return v_name;
end
$$;
