-- howdah.close_connection(): close the caller's connection, and drop its temporary queues with their messages.
--
-- Returns  how many queues were dropped (bigint).
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_consumer howdah_admin
--
-- The session then belongs to no connection, and can serve another client.
create or replace function howdah.close_connection() returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_connection text := nullif(current_setting('howdah.connection', true), '');
    v_count bigint := 0;
    v_queue howdah.temporary_queues;
begin
    perform howdah._refuse_maintenance();
    for v_queue in select t.* from howdah.temporary_queues t where t.connection = v_connection
        order by t.destination_id loop
        v_count := v_count + howdah._drop_temporary(v_queue)::integer;
    end loop;
    perform set_config('howdah.connection', '', false);
    if exists (select from pg_locks l where l.locktype = 'advisory' and l.pid = pg_backend_pid()
        and l.mode = 'ExclusiveLock' and l.objsubid = 1
               and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(v_connection, 1213154392)) then
        perform pg_advisory_unlock(hashtextextended(v_connection, 1213154392));
    end if;
    return v_count;
end
$$;
