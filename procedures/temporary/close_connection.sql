-- howdah.close_connection(): close the caller's connection, and drop its temporary queues with their messages. What it
-- sent goes too, where a destination's option discard_with_sender says so.
--
-- Returns  how many queues were dropped (bigint).
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- The session then belongs to no connection, and can serve another client.
create or replace function howdah.close_connection() returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_connection text := nullif(current_setting('howdah.connection', true), '');
    v_count bigint := 0;
    v_sender bigint;
    v_queue howdah.temporary_queues;
begin
    perform howdah._refuse_maintenance();
    for v_queue in select t.* from howdah.temporary_queues t where t.connection = v_connection
        order by t.destination_id loop
        v_count := v_count + howdah._drop_temporary(v_queue)::integer;
    end loop;
    if pg_sequence_last_value('howdah.senders_noted'::regclass) is not null then
        v_sender := case when v_connection is null or v_connection ^@ 's-' then howdah._own_sender()
            else howdah._lock_key('sender', v_connection) end;
        delete from howdah.sender_signs s where s.sender = v_sender;
        perform howdah._discard_sent(d, array[v_sender]) from howdah.destinations d
        where d.discard_with_sender and d.dropped_at is null and v_sender is not null;
    end if;
    perform set_config('howdah.connection', '', false);
    if exists (select from pg_locks l where l.locktype = 'advisory' and l.pid = pg_backend_pid()
        and l.mode = 'ExclusiveLock' and l.objsubid = 1
               and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(v_connection, 1213154392)) then
        perform pg_advisory_unlock(hashtextextended(v_connection, 1213154392));
    end if;
    return v_count;
end
$$;
