-- howdah.set_connection(connection, local): say which connection of a client this session, or transaction, belongs to.
--
-- Raises   HD005 it is no token.
-- Role     howdah_consumer howdah_admin
--
-- For clients with several sessions, and behind a transaction pooler, where it is said in each transaction, with local. The token is a secret of 16 to
-- 200 characters that the client makes up. Its temporary queues last for a minute after something was last heard of it: a receive, a
-- wait, howdah.keep_connection(). It is a setting of the session, howdah.connection; NULL takes it back.
create or replace function howdah.set_connection(connection text, local boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if connection !~ '^[A-Za-z0-9_.-]{16,200}$' then
        raise exception using errcode = 'HD005', message = 'that is no token of a connection',
            hint = 'It has 16 to 200 characters out of A-Z a-z 0-9 . _ - that nobody can guess, such as a random UUID.';
    end if;
    perform set_config('howdah.connection', coalesce(connection, ''), coalesce(local, false));
end
$$;

-- howdah.keep_connection(): say that the caller's connection lives, though it receives nothing.
--
-- Returns  the number of its temporary queues (bigint).
-- Role     howdah_consumer howdah_admin
--
-- To be called twice a minute or so. A database session without howdah.set_connection needs none of this.
create or replace function howdah.keep_connection() returns bigint
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select count(howdah._note_alive(t.alive) is null) from howdah.temporary_queues t
    where t.connection = current_setting('howdah.connection', true) and t.boot = pg_postmaster_start_time()
$$;

-- howdah.close_connection(): end the caller's connection: its temporary queues are dropped, with what lies in them.
--
-- Returns  how many there were (bigint).
-- Raises   HD010 called out of a maintenance command.
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
    for v_queue in select t.* from howdah.temporary_queues t where t.connection = v_connection order by t.destination_id loop
        v_count := v_count + howdah._drop_temporary(v_queue)::integer;
    end loop;
    perform set_config('howdah.connection', '', false);
    if exists (select from pg_locks l where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.mode = 'ExclusiveLock' and l.objsubid = 1
               and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(v_connection, 1213154392)) then
        perform pg_advisory_unlock(hashtextextended(v_connection, 1213154392));
    end if;
    return v_count;
end
$$;
